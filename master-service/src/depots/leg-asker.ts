import type { IncomingMessage } from 'node:http';
import { depotLegsSchema, formatLegsTarget, legsText, type NeighbourLeg } from '@longhaul/shared';
import { parseJson } from '@longhaul/shared/service';
import { type DepotLine, DepotRequests } from './depot-requests.ts';

/** Questions under way at once; what is beyond is not asked, and the picture lacks those legs. */
const MOST_UNDER_WAY = 64;
/** What comes later is older than anybody wants to see. */
const ASK_TIMEOUT_MS = 1_500;
/** An answer is a few lines for each neighbour. */
const MAX_ANSWER_CHARS = 8_192;

/** Asks depots what their connections for a job do now. */
export class LegAsker {
  readonly #now: () => number;
  /** A question is no secret, and proves itself: whoever answers in a depot's place can only tell wrong figures. */
  readonly #depots: DepotRequests;

  constructor(line: DepotLine) {
    this.#now = line.now;
    this.#depots = new DepotRequests({ ...line, most: MOST_UNDER_WAY, timeoutMs: ASK_TIMEOUT_MS });
  }

  /** The legs of a job at one depot; `undefined` where it does not tell. Never rejects. */
  async ask(id: string, jobId: string): Promise<readonly NeighbourLeg[] | undefined> {
    const depot = this.#depots.find(id);
    if (!depot) return undefined;
    const timeMs = this.#now();
    const path = formatLegsTarget({ jobId, timeMs, ...this.#depots.sign(legsText(id, { jobId, timeMs })) });
    let text = '';
    const read = (answer: IncomingMessage) => {
      if (answer.statusCode !== 200) return answer.resume();
      return answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length <= MAX_ANSWER_CHARS) return;
        text = '';
        answer.destroy();
      });
    };
    await this.#depots.get(depot, path, read);
    const told = depotLegsSchema.safeParse(parseJson(text));
    return told.success && told.data.id === id ? told.data.legs : undefined;
  }

  close(): void {
    this.#depots.close();
  }
}
