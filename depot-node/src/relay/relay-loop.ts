import type { Kernel } from '../kernel/open-kernel.ts';
import type { OpenSslCalls } from '../kernel/openssl-calls.ts';
import { createBodyFlow } from './body-flow.ts';
import { BorrowedEnd } from './borrowed-end.ts';
import { createBufferPool } from './buffer-pool.ts';
import { type End, PlainEnd } from './end.ts';
import type { EndComponents, EndUse, Flow, FlowComponents } from './flow.ts';
import type { Mail } from './mail.ts';
import { createPipePool } from './pipe-pool.ts';
import { ThreadDigests } from './thread-digests.ts';
import { ThreadMerges } from './thread-merges.ts';
import {
  type AnswersCommand,
  type EndSpec,
  type FlowEnd,
  type FlowProgress,
  finishedWithNothing,
  type ListenCommand,
  type SecureCommand,
  type ThreadCommand,
  type ThreadReport,
} from './thread-message.ts';
import { ThreadTls } from './thread-tls.ts';
import { createTunnelFlow } from './tunnel-flow.ts';

/** Timeouts and progress are looked at this often; between two looks a resting flow costs nothing. */
const TICK_MS = 250;
// Key of the descriptor that says that commands have come; sockets have higher ones.
const WAKER_KEY = 0;

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

interface Watched {
  readonly end: End;
  readonly flow: Flow;
}

/**
 * Runs flows until it is told to stop. Every flow that can move gets one turn, then events and commands are looked at
 * again: a fast flow never keeps another one waiting for longer than one pair of splices each.
 */
export function runRelayLoop(init: LoopComponents): void {
  const { kernel, waker, mail, nextCommand, report, nowMs, openSsl } = init;
  const readiness = kernel.openReadiness();
  const pipes = createPipePool(kernel);
  const buffers = createBufferPool(kernel);
  const digests = new ThreadDigests();
  const shared: FlowComponents = { kernel, pipes, buffers, digests };
  const flows = new Map<number, Flow>();
  const keysOf = new Map<Flow, number[]>();
  /** Of TLS connections, the flows whose ends they are. */
  const borrowersOf = new Map<object, Set<Flow>>();
  const watched: (Watched | undefined)[] = [undefined];
  const freeKeys: number[] = [];
  /** Keys freed in this round: events that came with the same wait may still name them. */
  const freedKeys: number[] = [];
  let queue: Flow[] = [];
  /** Whose bytes gather, and when they are looked at again. */
  let gathering = new Set<Flow>();
  let gatherAtMs = Number.POSITIVE_INFINITY;
  let now = nowMs();
  let nextTickMs = now + TICK_MS;
  const state = { stopping: false, movedMs: -Infinity };

  const enqueue = (flow: Flow) => {
    if (flow.queued) return;
    flow.queued = true;
    queue.push(flow);
  };

  const watch = (flow: Flow): boolean => {
    const keys: number[] = [];
    keysOf.set(flow, keys);
    return flow.ends.every((end) => {
      if (end.descriptor < 0) return lendTo(flow, end);
      const key = freeKeys.pop() ?? watched.length;
      keys.push(key);
      watched[key] = { end, flow };
      return flow.isListener
        ? readiness.watchListener(end.descriptor, key)
        : readiness.watch(end.descriptor, key);
    });
  };

  /** Flows have a turn when there is news of what they have borrowed. */
  const lendTo = (flow: Flow, { session }: End) => {
    if (!session) return true;
    const borrowers = borrowersOf.get(session) ?? new Set();
    borrowersOf.set(session, borrowers.add(flow));
    return true;
  };

  const tls =
    openSsl &&
    new ThreadTls({
      calls: { kernel, openSsl },
      components: shared,
      enqueue,
      report,
      forget: (flow) => {
        flows.delete(flow.id);
        forget(flow);
      },
      start: (flow) => start(flow),
      finish: (flow, end) => finish(flow, end),
      nowMs: () => now,
    });
  const makeEnd = (spec: EndSpec, use: EndUse): End =>
    typeof spec === 'number'
      ? new PlainEnd(spec, kernel)
      : new BorrowedEnd({
          session: tls?.find(spec.session),
          descriptor: spec.descriptor,
          use,
          components: shared,
        });
  const components: EndComponents = { ...shared, makeEnd };
  const merges = new ThreadMerges({ components, enqueue, report });
  /** When something of a merge is to be told. */
  let tellAtMs = Number.POSITIVE_INFINITY;

  const listen = (command: ListenCommand) => {
    if (tls) start(tls.listen(command));
    else {
      report(finishedWithNothing(command.id, 'relay-failed'));
      kernel.close(command.descriptor);
    }
  };

  /** Begins a TLS connection; without OpenSSL it is closed, and its report says so. */
  const secure = (command: SecureCommand) => {
    try {
      if (!tls) throw new Error('no OpenSSL');
      start(tls.begin(command));
    } catch (failed) {
      const reason = failed instanceof Error ? failed.message : String(failed);
      report(finishedWithNothing(command.id, 'broke', { isBroken: false, reason }));
      kernel.close(command.descriptor);
    }
  };

  /** Adds a connection to a merge, which may be over by now. */
  const addAnswers = (command: AnswersCommand) => {
    const answers = merges.add(command);
    if (answers) return start(answers);
    report(finishedWithNothing(command.id, 'cancelled'));
    makeEnd(command.source, 'source').close();
  };

  const start = (flow: Flow) => {
    flows.set(flow.id, flow);
    if (watch(flow)) enqueue(flow);
    else finish(flow, 'relay-failed');
  };

  const forget = (flow: Flow) => {
    for (const key of keysOf.get(flow) ?? []) {
      watched[key] = undefined;
      freedKeys.push(key);
    }
    keysOf.delete(flow);
    borrowersOf.delete(flow);
    for (const { descriptor, session } of flow.ends) {
      if (descriptor >= 0) readiness.unwatch(descriptor);
      if (session) borrowersOf.get(session)?.delete(flow);
    }
  };

  const finish = (flow: Flow, end: FlowEnd) => {
    if (!flows.delete(flow.id)) return;
    const rest = flow.finish(end);
    tls?.delete(flow.id);
    merges.delete(flow.id, now);
    forget(flow);
    // The report goes out before the descriptors are closed. If the thread dies in between, the main thread
    // closes only flows that were not reported, so it never closes a number that the system has given to
    // somebody else.
    if (!flow.isUnknown)
      report({
        type: 'finished',
        id: flow.id,
        end,
        bytesUp: flow.bytesUp(),
        bytesDown: flow.bytesDown(),
        rest,
        segments: flow.segments?.(),
        ...(flow.hasUnused === true && { hasUnused: true }),
        ...(flow.failure && { failure: flow.failure }),
      });
    for (const one of flow.ends) one.close();
  };

  const obey = (command: ThreadCommand) => {
    switch (command.type) {
      case 'tunnel':
        return start(createTunnelFlow(command, components, now));
      case 'body':
        return start(createBodyFlow(command, components, now));
      case 'merge':
        return start(merges.begin(command, now));
      case 'answers':
        return addAnswers(command);
      case 'answer-head':
      case 'answer-body':
      case 'answer-rest':
      case 'merge-put':
        return merges.obey(command);
      case 'secure':
        return secure(command);
      case 'listen':
        return listen(command);
      case 'use-certificate':
        return tls?.useCertificate(command);
      case 'begin':
        if (!tls) report({ type: 'begun', id: command.id, begun: undefined });
        return tls?.sayFirst(command);
      case 'abandon':
        return tls?.abandon(command.connection);
      case 'end-down':
      case 'close-soon':
      case 'give-away':
        return tls?.obey(command, now);
      case 'add-context':
      case 'renew-tickets':
      case 'drop-context':
        return tls?.changeContext(command);
      case 'cancel': {
        const flow = flows.get(command.id);
        return flow && finish(flow, 'cancelled');
      }
      case 'digest-finish':
        return report({ type: 'digest', id: command.id, digest: digests.obey(command) });
      case 'digest-begin':
      case 'digest-add':
      case 'digest-drop':
        return digests.obey(command);
      case 'rest':
        if (now - state.movedMs >= REST_MS) init.compactHeap();
        return undefined;
      case 'stop':
        state.stopping = true;
        return undefined;
      default:
        throw new Error(`unknown command ${JSON.stringify(command satisfies never)}`);
    }
  };

  const handleEvents = (count: number) => {
    for (let index = 0; index < count; index += 1) {
      const key = readiness.key(index);
      if (key === WAKER_KEY) {
        kernel.rest(waker);
        continue;
      }
      const found = watched[key];
      if (!found) continue;
      const event = readiness.event(index);
      if (event.readable) found.end.readable = true;
      if (event.writable) found.end.writable = true;
      if (event.failed) found.end.failed = true;
      enqueue(found.flow);
      for (const borrower of borrowersOf.get(found.flow) ?? []) enqueue(borrower);
    }
  };

  const runTurns = () => {
    const batch = queue;
    queue = [];
    let shakenMs = 0;
    for (const flow of batch) {
      const isHandshaking = flow.isHandshaking === true;
      if (isHandshaking && shakenMs >= HANDSHAKES_PER_ROUND_MS) {
        queue.push(flow);
        continue;
      }
      flow.queued = false;
      if (flows.get(flow.id) !== flow) continue;
      const beganMs = isHandshaking ? nowMs() : 0;
      const turn = flow.turn(now);
      if (isHandshaking) shakenMs += nowMs() - beganMs;
      if (turn === 'again') {
        state.movedMs = now;
        enqueue(flow);
      } else if (turn === 'gather') {
        gathering.add(flow);
        gatherAtMs = Math.min(gatherAtMs, now + GATHER_CHECK_MS);
      } else if (turn !== 'wait') finish(flow, turn.end);
    }
  };

  const lookAtGathered = () => {
    for (const flow of gathering) enqueue(flow);
    gathering = new Set();
    gatherAtMs = Number.POSITIVE_INFINITY;
  };

  const tick = () => {
    nextTickMs = now + TICK_MS;
    pipes.shrink();
    buffers.shrink();
    merges.shrink();
    const progress: FlowProgress[] = [];
    for (const flow of flows.values()) {
      const end = flow.expired(now);
      if (end) {
        finish(flow, end);
        continue;
      }
      const [down, up] = [flow.bytesDown(), flow.bytesUp()];
      if (!flow.wantsProgress || down + up === flow.reportedBytes) continue;
      flow.reportedBytes = down + up;
      progress.push([flow.id, down, up]);
    }
    if (progress.length > 0) report({ type: 'progress', flows: progress });
  };

  const waitMs = () => {
    if (queue.length > 0) return 0;
    const isFlowing = flows.size > (tls?.listeners ?? 0) || tls?.isWaiting === true;
    const isTicking = isFlowing || !pipes.isEmpty() || !buffers.isEmpty();
    const nextMs = Math.min(isTicking ? nextTickMs : Number.POSITIVE_INFINITY, tellAtMs, gatherAtMs);
    return nextMs === Number.POSITIVE_INFINITY ? -1 : Math.max(0, Math.ceil(nextMs - now));
  };

  if (!readiness.watchWaker(waker, WAKER_KEY)) throw new Error('the waker cannot be watched');
  report({ type: 'ready', tls: tls ? undefined : (init.whyNoTls ?? 'it is not wanted') });
  try {
    while (!state.stopping) {
      const timeoutMs = waitMs();
      const count = readiness.wait(timeoutMs !== 0 && mail.fallAsleep() ? timeoutMs : 0);
      mail.wakeUp();
      now = nowMs();
      if (mail.hasCome()) for (let command = nextCommand(); command; command = nextCommand()) obey(command);
      handleEvents(count);
      if (now >= gatherAtMs) lookAtGathered();
      runTurns();
      tellAtMs = merges.tell(now);
      if (now >= nextTickMs) tick();
      freeKeys.push(...freedKeys.splice(0));
    }
  } finally {
    for (const flow of flows.values()) finish(flow, 'relay-failed');
    tls?.close();
    pipes.close();
    readiness.close();
  }
}
