import type { Kernel } from '../kernel/open-kernel.ts';
import type { OpenSslCalls } from '../kernel/openssl-calls.ts';
import { createBodyFlow } from './body-flow.ts';
import { BorrowedEnd } from './borrowed-end.ts';
import { type BufferPool, createBufferPool } from './buffer-pool.ts';
import { type End, PlainEnd } from './end.ts';
import type { EndComponents, EndUse, Flow, Turn } from './flow.ts';
import type { Mail } from './mail.ts';
import { createPipePool, type PipePool } from './pipe-pool.ts';
import { ThreadDigests } from './thread-digests.ts';
import { ThreadMerges } from './thread-merges.ts';
import {
  type AnswersCommand,
  type BeginCommand,
  type EndSpec,
  type FlowEnd,
  type FlowProgress,
  type FlowReport,
  finishedWithNothing,
  type ListenCommand,
  type SecureCommand,
  type ThreadCommand,
  type ThreadReport,
} from './thread-message.ts';
import { ThreadTls } from './thread-tls.ts';
import { createTunnelFlow } from './tunnel-flow.ts';
import { WatchedEnds } from './watched-ends.ts';

/** Timeouts and progress are looked at this often; between two looks a resting flow costs nothing. */
const TICK_MS = 250;

/**
 * Between two turns of all others, handshakes go on for so long, and one of them in any case: a signature
 * takes a third of a millisecond, or two where the certificate is one of RSA-4096.
 */
const HANDSHAKES_PER_ROUND_MS = 2;
/** Flows whose bytes gather are looked at again this soon. */
const GATHER_CHECK_MS = 1;
/** A thread that has moved nothing for so long rests: nobody waits for it. */
const REST_MS = 1000;

export interface LoopComponents {
  readonly kernel: Kernel;
  /** The OpenSSL that has been tried; left out, the thread ends no TLS. */
  readonly openSsl: OpenSslCalls | undefined;
  /** Why there is none. */
  readonly whyNoTls: string | undefined;
  /** Readable when commands have come while the thread slept. */
  readonly waker: number;
  /** What both sides know without a call of the kernel; see `mail.ts`. */
  readonly mail: Mail;
  readonly nextCommand: () => ThreadCommand | undefined;
  readonly report: (report: ThreadReport) => void;
  readonly nowMs: () => number;
  /** Gives back memory that is not needed; takes some ten milliseconds. */
  readonly compactHeap: () => void;
}

/**
 * Runs flows until it is told to stop. Every flow that can move gets one turn, then events and commands are looked at
 * again: a fast flow never keeps another one waiting for longer than one pair of splices each.
 */
export function runRelayLoop(init: LoopComponents): void {
  new RelayLoop(init).run();
}

class RelayLoop {
  readonly #init: LoopComponents;
  readonly #watched: WatchedEnds;
  readonly #components: EndComponents;
  readonly #pipes: PipePool;
  readonly #buffers: BufferPool;
  readonly #digests = new ThreadDigests();
  readonly #merges: ThreadMerges;
  readonly #tls: ThreadTls | undefined;
  readonly #flows = new Map<number, Flow>();
  #queue: Flow[] = [];
  /** Whose bytes gather, and when they are looked at again. */
  #gathering = new Set<Flow>();
  #gatherAtMs = Number.POSITIVE_INFINITY;
  /** When something of a merge is to be told. */
  #tellAtMs = Number.POSITIVE_INFINITY;
  /** When this round began. */
  #nowMs: number;
  #nextTickMs: number;
  #movedMs = Number.NEGATIVE_INFINITY;
  #isStopping = false;

  constructor(init: LoopComponents) {
    const { kernel, waker, openSsl, report } = init;
    const enqueue = (flow: Flow) => this.#enqueue(flow);
    this.#init = init;
    this.#watched = new WatchedEnds({ kernel, waker, enqueue });
    this.#pipes = createPipePool(kernel);
    this.#buffers = createBufferPool(kernel);
    const shared = { kernel, pipes: this.#pipes, buffers: this.#buffers, digests: this.#digests };
    this.#components = { ...shared, makeEnd: (spec, use) => this.#makeEnd(spec, use) };
    this.#merges = new ThreadMerges({ components: this.#components, enqueue, report });
    this.#tls =
      openSsl &&
      new ThreadTls({
        calls: { kernel, openSsl },
        components: shared,
        enqueue,
        report,
        start: (flow) => this.#start(flow),
        finish: (flow, end) => this.#finish(flow, end),
        forget: (flow) => {
          this.#flows.delete(flow.id);
          this.#watched.forget(flow);
        },
        nowMs: () => this.#nowMs,
      });
    this.#nowMs = init.nowMs();
    this.#nextTickMs = this.#nowMs + TICK_MS;
  }

  /** Goes round until it is told to stop; closes all that it has then. */
  run(): void {
    const { report, whyNoTls } = this.#init;
    report({ type: 'ready', tls: this.#tls ? undefined : (whyNoTls ?? 'it is not wanted') });
    try {
      while (!this.#isStopping) this.#goRound();
    } finally {
      this.#close();
    }
  }

  #goRound(): void {
    const { mail } = this.#init;
    const timeoutMs = this.#waitMs();
    const count = this.#watched.wait(timeoutMs !== 0 && mail.fallAsleep() ? timeoutMs : 0);
    mail.wakeUp();
    this.#nowMs = this.#init.nowMs();
    if (mail.hasCome()) this.#obeyAll();
    this.#watched.noteEvents(count);
    if (this.#nowMs >= this.#gatherAtMs) this.#lookAtGathered();
    this.#runTurns();
    this.#tellAtMs = this.#merges.tell(this.#nowMs);
    if (this.#nowMs >= this.#nextTickMs) this.#tick();
    this.#watched.endRound();
  }

  /** How long nothing is to be done unless something happens; -1: without end. */
  #waitMs(): number {
    if (this.#queue.length > 0) return 0;
    const isFlowing = this.#flows.size > (this.#tls?.listeners ?? 0) || this.#tls?.isWaiting === true;
    const isTicking = isFlowing || !this.#pipes.isEmpty() || !this.#buffers.isEmpty();
    const tickAtMs = isTicking ? this.#nextTickMs : Number.POSITIVE_INFINITY;
    const nextMs = Math.min(tickAtMs, this.#tellAtMs, this.#gatherAtMs);
    return nextMs === Number.POSITIVE_INFINITY ? -1 : Math.max(0, Math.ceil(nextMs - this.#nowMs));
  }

  #close(): void {
    for (const flow of this.#flows.values()) this.#finish(flow, 'relay-failed');
    this.#tls?.close();
    this.#pipes.close();
    this.#watched.close();
  }

  #start(flow: Flow): void {
    this.#flows.set(flow.id, flow);
    if (this.#watched.watch(flow)) this.#enqueue(flow);
    else this.#finish(flow, 'relay-failed');
  }

  #finish(flow: Flow, end: FlowEnd): void {
    if (!this.#flows.delete(flow.id)) return;
    const rest = flow.finish(end);
    this.#tls?.delete(flow.id);
    this.#merges.delete(flow.id, this.#nowMs);
    this.#watched.forget(flow);
    // The report goes out before the descriptors are closed. If the thread dies in between, the main thread
    // closes only flows that were not reported, so it never closes a number that the system has given to
    // somebody else.
    if (!flow.isUnknown) this.#init.report(reportOf(flow, end, rest));
    for (const one of flow.ends) one.close();
  }

  #enqueue(flow: Flow): void {
    if (flow.queued) return;
    flow.queued = true;
    this.#queue.push(flow);
  }

  /** One turn of each flow in the queue. */
  #runTurns(): void {
    const batch = this.#queue;
    this.#queue = [];
    let shakenMs = 0;
    for (const flow of batch) {
      const isHandshaking = flow.isHandshaking === true;
      if (isHandshaking && shakenMs >= HANDSHAKES_PER_ROUND_MS) {
        this.#queue.push(flow);
        continue;
      }
      flow.queued = false;
      if (this.#flows.get(flow.id) !== flow) continue;
      const beganMs = isHandshaking ? this.#init.nowMs() : 0;
      const turn = flow.turn(this.#nowMs);
      if (isHandshaking) shakenMs += this.#init.nowMs() - beganMs;
      this.#heed(flow, turn);
    }
  }

  /** Does what a flow's turn asks for. */
  #heed(flow: Flow, turn: Turn): void {
    if (turn === 'again') {
      this.#movedMs = this.#nowMs;
      this.#enqueue(flow);
    } else if (turn === 'gather') {
      this.#gathering.add(flow);
      this.#gatherAtMs = Math.min(this.#gatherAtMs, this.#nowMs + GATHER_CHECK_MS);
    } else if (turn !== 'wait') this.#finish(flow, turn.end);
  }

  #lookAtGathered(): void {
    for (const flow of this.#gathering) this.#enqueue(flow);
    this.#gathering = new Set();
    this.#gatherAtMs = Number.POSITIVE_INFINITY;
  }

  #tick(): void {
    this.#nextTickMs = this.#nowMs + TICK_MS;
    this.#pipes.shrink();
    this.#buffers.shrink();
    this.#merges.shrink();
    const flows: FlowProgress[] = [];
    for (const flow of this.#flows.values()) {
      const end = flow.expired(this.#nowMs);
      if (end) this.#finish(flow, end);
      else if (flow.wantsProgress) addProgress(flows, flow);
    }
    if (flows.length > 0) this.#init.report({ type: 'progress', flows });
  }

  #obeyAll(): void {
    const { nextCommand } = this.#init;
    for (let command = nextCommand(); command; command = nextCommand()) this.#obey(command);
  }

  #obey(command: ThreadCommand): void {
    switch (command.type) {
      case 'tunnel':
        return this.#start(createTunnelFlow(command, this.#components, this.#nowMs));
      case 'body':
        return this.#start(createBodyFlow(command, this.#components, this.#nowMs));
      case 'merge':
        return this.#start(this.#merges.begin(command, this.#nowMs));
      case 'answers':
        return this.#addAnswers(command);
      case 'answer-head':
      case 'answer-body':
      case 'answer-rest':
      case 'merge-put':
        return this.#merges.obey(command);
      case 'secure':
        return this.#secure(command);
      case 'listen':
        return this.#listen(command);
      case 'use-certificate':
        return this.#tls?.useCertificate(command);
      case 'begin':
        return this.#begin(command);
      case 'abandon':
        return this.#tls?.abandon(command.connection);
      case 'end-down':
      case 'close-soon':
      case 'give-away':
        return this.#tls?.obey(command, this.#nowMs);
      case 'add-context':
      case 'renew-tickets':
      case 'drop-context':
        return this.#tls?.changeContext(command);
      case 'cancel':
        return this.#cancel(command.id);
      case 'digest-finish':
        return this.#init.report({ type: 'digest', id: command.id, digest: this.#digests.obey(command) });
      case 'digest-begin':
      case 'digest-add':
      case 'digest-drop':
        return void this.#digests.obey(command);
      case 'rest':
        return this.#rest();
      case 'stop':
        this.#isStopping = true;
        return undefined;
      default:
        throw new Error(`unknown command ${JSON.stringify(command satisfies never)}`);
    }
  }

  /** Adds a connection to a merge, which may be over by now. */
  #addAnswers(command: AnswersCommand): void {
    const answers = this.#merges.add(command);
    if (answers) return this.#start(answers);
    this.#init.report(finishedWithNothing(command.id, 'cancelled'));
    this.#makeEnd(command.source, 'source').close();
  }

  /** Begins a TLS connection; without OpenSSL it is closed, and its report says so. */
  #secure(command: SecureCommand): void {
    try {
      if (!this.#tls) throw new Error('no OpenSSL');
      this.#start(this.#tls.begin(command));
    } catch (failed) {
      const reason = failed instanceof Error ? failed.message : String(failed);
      this.#init.report(finishedWithNothing(command.id, 'broke', { isBroken: false, reason }));
      this.#init.kernel.close(command.descriptor);
    }
  }

  #listen(command: ListenCommand): void {
    if (this.#tls) return this.#start(this.#tls.listen(command));
    this.#init.report(finishedWithNothing(command.id, 'relay-failed'));
    this.#init.kernel.close(command.descriptor);
  }

  #begin(command: BeginCommand): void {
    if (this.#tls) this.#tls.sayFirst(command);
    else this.#init.report({ type: 'begun', id: command.id, begun: undefined });
  }

  #cancel(id: number): void {
    const flow = this.#flows.get(id);
    if (flow) this.#finish(flow, 'cancelled');
  }

  #rest(): void {
    if (this.#nowMs - this.#movedMs >= REST_MS) this.#init.compactHeap();
  }

  #makeEnd(spec: EndSpec, use: EndUse): End {
    if (typeof spec === 'number') return new PlainEnd(spec, this.#init.kernel);
    const { session, descriptor } = spec;
    return new BorrowedEnd({
      session: this.#tls?.find(session),
      descriptor,
      use,
      components: this.#components,
    });
  }
}

function reportOf(flow: Flow, end: FlowEnd, rest: FlowReport['rest']): FlowReport {
  return {
    type: 'finished',
    id: flow.id,
    end,
    bytesUp: flow.bytesUp(),
    bytesDown: flow.bytesDown(),
    rest,
    segments: flow.segments?.(),
    ...(flow.hasUnused === true && { hasUnused: true }),
    ...(flow.failure && { failure: flow.failure }),
  };
}

/** Adds how far a flow has come, unless that was told already. */
function addProgress(flows: FlowProgress[], flow: Flow): void {
  const [down, up] = [flow.bytesDown(), flow.bytesUp()];
  if (down + up === flow.reportedBytes) return;
  flow.reportedBytes = down + up;
  flows.push([flow.id, down, up]);
}
