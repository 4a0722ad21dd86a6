import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { stopReading } from '../kernel/tcp-handle.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { AnswerEvents, AnswerReader, BodyOrder, ReadAnswers } from './answer-reader.ts';
import { gatherEnd } from './gather-ends.ts';
import { HeldCount } from './held-count.ts';
import { flushed, resetOnClose, suspendIdleTimeouts } from './prepare-ends.ts';
import type { BodyMerge, MergeOptions } from './relay-plane.ts';
import type { RelayThread, StartedFlow } from './relay-thread.ts';
import type { SpliceComponents } from './splice-tunnel.ts';
import type { FlowReport, MergeEvent } from './thread-message.ts';

interface MergeComponents extends SpliceComponents {
  readonly canMove: (stream: Duplex) => stream is Socket;
}

/** Merges a file in a relay thread; see `ChoosingRelay.merge`. */
export async function spliceMerge(
  components: MergeComponents,
  sink: Socket,
  options: MergeOptions,
): Promise<BodyMerge | undefined> {
  const { digest, tagKey } = options.watcher ?? {};
  const restoreTimeouts = suspendIdleTimeouts(sink);
  const isFlushed = (await flushed(sink, options.stallMs, options.signal)) === 'flushed';
  // A digest whose thread has died has none of the bytes before.
  const home = digest && components.threads.homeOf(digest);
  const end = isFlushed ? await gatherEnd(components, sink, home) : undefined;
  if (!end) {
    restoreTimeouts();
    return undefined;
  }
  return new SpliceMerge(components, sink, options, {
    ...end,
    restoreTimeouts,
    digestId: home && digest?.id,
    tagKey,
  });
}

interface MergeStart {
  readonly thread: RelayThread;
  readonly end: Extract<Parameters<RelayThread['begin']>[0], { type: 'merge' }>['sink'];
  readonly digestId: number | undefined;
  readonly tagKey: Uint8Array | undefined;
  readonly restoreTimeouts: () => void;
}

class SpliceMerge implements BodyMerge {
  readonly #components: MergeComponents;
  readonly #sink: Socket;
  readonly #options: MergeOptions;
  readonly #start: MergeStart;
  readonly #flow: StartedFlow;
  readonly #over = Promise.withResolvers<void>();
  #headByte: number;
  #heldBytes = 0;
  #isBlocked = false;
  #isOver = false;
  readonly #count: HeldCount | undefined;
  readonly #restoreClose: () => void;

  constructor(components: MergeComponents, sink: Socket, options: MergeOptions, start: MergeStart) {
    const { startByte, endByte, backBytes, stallMs, held } = options;
    this.#count = held && new HeldCount(held);
    this.#components = components;
    this.#sink = sink;
    this.#options = options;
    this.#start = start;
    this.#headByte = startByte;
    sink.on('error', ignore);
    // Not even the death of this process may make a cut body look like an ended one.
    this.#restoreClose = resetOnClose(components.kernel, sink);
    const { end, digestId, tagKey } = start;
    this.#flow = start.thread.begin(
      { type: 'merge', sink: end, startByte, endByte, backBytes, stallMs, held, digestId, tagKey },
      {
        onProgress: ignore,
        onMerge: (event) => this.#note(event),
        onFinished: (report) => this.#finish(report),
      },
    );
    // Whoever destroys it in the meantime ends the merge.
    sink.on('close', this.#flow.cancel);
  }

  get headByte(): number {
    return this.#headByte;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get isCounted(): boolean {
    return this.#count !== undefined;
  }

  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  put(startByte: number, bytes: Uint8Array): void {
    if (this.#isOver) return;
    // The thread counts them for itself when it takes them.
    this.#count?.note(bytes.length);
    this.#start.thread.tell({ type: 'merge-put', id: this.#flow.id, startByte, bytes });
  }

  readonly readAnswers: ReadAnswers = async (below, first, isAtHead, events) => {
    if (this.#isOver || !this.#components.canMove(below)) return undefined;
    const { thread } = this.#start;
    const end = await gatherEnd(this.#components, below, thread);
    if (!end) return undefined;
    return new SpliceAnswers(below, thread, events, (listener) => {
      const head = Buffer.concat([first, stopReading(below)]);
      const merge = this.#flow.id;
      return thread.begin({ type: 'answers', merge, source: end.end, head, isAtHead }, listener);
    });
  };

  close(): Promise<void> {
    this.#flow.cancel();
    return this.#over.promise;
  }

  #note(event: MergeEvent): void {
    if (event.is !== 'delivered' || this.#isOver) return;
    this.#headByte += event.bytes;
    this.#heldBytes = event.heldBytes;
    this.#isBlocked = event.isBlocked;
    this.#options.onChange();
  }

  #finish({ end, bytesDown, rest, segments }: FlowReport): void {
    const { startByte, watcher, onOver, onLast } = this.#options;
    const sink = this.#sink;
    this.#isOver = true;
    this.#heldBytes = 0;
    this.#isBlocked = false;
    this.#headByte = Math.max(this.#headByte, startByte + bytesDown);
    if (segments) watcher?.onTags(segments);
    this.#restoreClose();
    sink.off('close', this.#flow.cancel).off('error', ignore);
    // How far it came is not known: nothing may go on from here.
    if (end === 'relay-failed') resetConnection(sink);
    else if (end === 'sink-broke') sink.destroy();
    this.#start.restoreTimeouts();
    if (rest && rest.length > 0) {
      this.#headByte += rest.length;
      if (end === 'complete') onLast(Buffer.from(rest.buffer, rest.byteOffset, rest.length));
      else if (!sink.destroyed) sink.write(rest);
    }
    onOver(end === 'complete' || end === 'cancelled' ? end : 'sink-broke');
    this.#over.resolve();
  }
}

/** Answers that a relay thread reads. */
class SpliceAnswers implements AnswerReader {
  readonly #below: Socket;
  readonly #thread: RelayThread;
  readonly #events: AnswerEvents;
  readonly #flow: StartedFlow;
  readonly #restoreTimeouts: () => void;
  #body: BodyOrder | undefined;
  /** Whether the thread waits for what it is to do. */
  #isWaiting = true;
  #isOver = false;
  hasUnused = false;

  constructor(
    below: Socket,
    thread: RelayThread,
    events: AnswerEvents,
    begin: (listener: Parameters<RelayThread['begin']>[1]) => StartedFlow,
  ) {
    this.#below = below;
    this.#thread = thread;
    this.#events = events;
    this.#restoreTimeouts = suspendIdleTimeouts(below);
    this.#flow = begin({
      onProgress: ignore,
      onMerge: (event) => this.#note(event),
      onFinished: (report) => this.#finish(report),
    });
  }

  readHead(): void {
    // Behind a body the thread reads the next head by itself.
    if (this.#isWaiting) this.#order({ type: 'answer-head', id: this.#flow.id });
    this.#isWaiting = false;
  }

  readBody(body: BodyOrder): void {
    const { startByte, sizeBytes } = body;
    this.#body = body;
    this.#isWaiting = false;
    this.#order({ type: 'answer-body', id: this.#flow.id, startByte, sizeBytes });
    // It has begun, perhaps with what came together with its head.
    body.onMoved(0, 0, false);
  }

  pause(): void {
    this.#order({ type: 'answer-rest', id: this.#flow.id, isResting: true });
  }

  resume(): void {
    this.#order({ type: 'answer-rest', id: this.#flow.id, isResting: false });
  }

  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#flow.cancel();
    this.#restoreTimeouts();
  }

  #order(order: Parameters<RelayThread['tell']>[0]): void {
    if (!this.#isOver) this.#thread.tell(order);
  }

  #note(event: MergeEvent): void {
    if (this.#isOver) return;
    const { onCame, onHead, onWhole, onStopped } = this.#events;
    if (event.is === 'moved') {
      onCame();
      onStopped(event.isHeldUp);
      this.#body?.onMoved(event.bytes, event.heldUpMs, event.isHeldUp);
    } else if (event.is === 'head') {
      this.#isWaiting = true;
      // It is whole, or longer than any may be.
      onHead(Buffer.from(event.bytes.buffer, event.bytes.byteOffset, event.bytes.length));
    } else if (event.is === 'whole') {
      this.#body = undefined;
      onWhole();
    }
  }

  #finish({ end, hasUnused = false }: FlowReport): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.hasUnused = hasUnused;
    this.#restoreTimeouts();
    if (end === 'relay-failed') resetConnection(this.#below);
    this.#events.onEnd();
  }
}

const ignore = () => {};
