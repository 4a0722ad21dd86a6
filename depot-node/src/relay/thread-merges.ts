import { AnswersFlow } from './answers-flow.ts';
import type { EndComponents, Flow } from './flow.ts';
import { type MergeComponents, MergeFlow } from './merge-flow.ts';
import { MergePieces } from './merge-pieces.ts';
import type { AnswersCommand, MergeCommand, MergeEvent, MergeOrder, ThreadReport } from './thread-message.ts';

/** How often connections that wait for room in memory look whether there is some. */
const ROOM_CHECK_MS = 50;

interface ThreadMergesInit {
  readonly components: EndComponents;
  readonly enqueue: (flow: Flow) => void;
  readonly report: (report: ThreadReport) => void;
}

/** The merges of one thread, with their connections, and what is told of them. */
export class ThreadMerges {
  readonly #init: ThreadMergesInit;
  readonly #components: MergeComponents;
  readonly #merges = new Map<number, MergeFlow>();
  readonly #answers = new Map<number, AnswersFlow>();
  /** Of which there is news. */
  readonly #untold = new Set<MergeFlow>();
  /** That have connections which wait for room in memory. */
  readonly #short = new Set<MergeFlow>();
  #events: MergeEvent[] = [];

  constructor(init: ThreadMergesInit) {
    this.#init = init;
    this.#components = {
      ...init.components,
      pieces: new MergePieces(init.components.kernel),
      enqueue: init.enqueue,
      awaitRoom: (merge) => this.#short.add(merge),
      tell: (merge) => this.#untold.add(merge),
      tellAtOnce: (merge, event, nowMs) => {
        this.#collect(merge, nowMs);
        this.#events.push(event);
      },
    };
  }

  begin(command: MergeCommand, nowMs: number): MergeFlow {
    const merge = new MergeFlow(command, this.#components, nowMs);
    this.#merges.set(command.id, merge);
    return merge;
  }

  /** A connection of a merge; undefined where that is over. */
  add(command: AnswersCommand): AnswersFlow | undefined {
    const merge = this.#merges.get(command.merge);
    if (!merge) return undefined;
    const answers = new AnswersFlow(command, merge, this.#components);
    this.#answers.set(command.id, answers);
    return answers;
  }

  obey(order: MergeOrder): void {
    const answers = this.#answers.get(order.id);
    switch (order.type) {
      case 'answer-head':
        return answers?.readHead();
      case 'answer-body':
        return answers?.readBody(order.startByte, order.sizeBytes);
      case 'answer-rest':
        return answers?.rest(order.isResting);
      case 'merge-put':
        return this.#merges.get(order.id)?.put(order.startByte, order.bytes);
      default:
        throw new Error(`unknown order ${JSON.stringify(order satisfies never)}`);
    }
  }

  /** A merge or a connection is over; what is new of it is told before. */
  delete(id: number, nowMs: number): void {
    const [merge, answers] = [this.#merges.get(id), this.#answers.get(id)];
    const of = merge ?? answers?.merge;
    if (!of) return;
    // Its merge knows it no more.
    const last = answers?.report(nowMs);
    if (last) this.#events.push(last);
    this.#collect(of, nowMs);
    this.#send();
    this.#answers.delete(id);
    this.#merges.delete(id);
    if (merge) this.#short.delete(merge);
    if (this.#merges.size === 0) this.#components.pieces.forget();
  }

  /** To be called again and again: lets go of memory that a burst has left. */
  shrink(): void {
    this.#components.pieces.shrink();
  }

  /** Tells what is to be told by now; gives when the next is. */
  tell(nowMs: number): number {
    let nextMs = this.#lookForRoom(nowMs);
    for (const merge of this.#untold) {
      if (merge.tellAtMs <= nowMs) this.#collect(merge, nowMs);
      else nextMs = Math.min(nextMs, merge.tellAtMs);
    }
    this.#send();
    return nextMs;
  }

  /** Others give memory back without a word, perhaps in another thread. Gives when to look again. */
  #lookForRoom(nowMs: number): number {
    for (const merge of this.#short) {
      if (merge.roomBytes === 0) continue;
      this.#short.delete(merge);
      merge.wakeForRoom();
    }
    return this.#short.size === 0 ? Number.POSITIVE_INFINITY : nowMs + ROOM_CHECK_MS;
  }

  #collect(merge: MergeFlow, nowMs: number): void {
    this.#untold.delete(merge);
    for (const answers of merge.answers) {
      const event = answers.report(nowMs);
      if (event) this.#events.push(event);
    }
    const event = merge.report(nowMs);
    if (event) this.#events.push(event);
  }

  #send(): void {
    if (this.#events.length === 0) return;
    this.#init.report({ type: 'merges', events: this.#events });
    this.#events = [];
  }
}
