import { Lane, type LaneConnection } from '../lanes/lane.ts';
import type { LaneForecast } from '../lanes/lane-forecast.ts';
import { lanesSchema } from '../lanes/lanes-config.ts';
import type { Conversation } from '../origin/conversation.ts';
import type { BodyTaker } from '../origin/exchange.ts';

/** A lane over a connection of which the test tells what comes, and when. */
export class ToldLane {
  readonly lane: Lane;
  /** Of the block that was asked for last. */
  taker: BodyTaker | undefined;
  isClosed = false;
  nowMs = 0;

  constructor(index: number, expected: ConstructorParameters<typeof LaneForecast>[1]) {
    const config = lanesSchema.parse({});
    this.lane = new Lane(index, config.firstBlockBytes, {
      ...expected,
      open: () => ({ ...this.#connect(), asksAlong: true }),
      request: {
        asked: { method: 'GET', target: '/', headers: {} },
        representation: { sizeBytes: 1, validator: '"one"', validatedBy: 'etag', contentEncoding: '' },
        silenceMs: 1000,
      },
      config,
      mostQuestions: () => 1,
      nowMs: () => this.nowMs,
      onOpened: () => {},
      onChunk: () => {},
      onMoved: (fetch, bytes) => {
        fetch.atByte += bytes;
      },
      onWhole: () => {},
      onFailed: () => {},
    });
  }

  /**
   * Has it bring a block whose answer has begun, over a connection that began to be made so early, and stood
   * when it was asked.
   */
  adopt(block: Parameters<Lane['adopt']>[1], askedAtMs: number, openedAtMs = askedAtMs): void {
    this.lane.adopt(this.#connect(), block, { openedAtMs, askedAtMs });
  }

  #connect(): LaneConnection {
    const connection: Conversation = {
      stands: Promise.resolve(),
      mostQuestions: 1,
      isOpen: true,
      gaveBack: false,
      ask: () => new Promise(() => {}),
      read: (order) => {
        this.taker = order;
        return new Promise(() => {});
      },
      pause: () => {},
      resume: () => {},
      close: () => {
        this.isClosed = true;
      },
      reset: () => {},
    };
    return { connection, route: Promise.resolve({ chain: ['d1'], promise: undefined }) };
  }
}
