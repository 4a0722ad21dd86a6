import { once } from 'node:events';
import { DEFAULT_CIPHERS } from 'node:tls';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { LISTENER_GROUPS, selfSigned } from '@longhaul/shared/service';
import type { DigestAlgorithm, FlowDigest } from '../digests/flow-digest.ts';
import type { Kernel } from '../kernel/open-kernel.ts';
import { AwaitedReports } from './awaited-reports.ts';
import { Mail } from './mail.ts';
import type { RelayWorkerData } from './relay-worker.ts';
import {
  type AbandonCommand,
  type AcceptedReport,
  type AnswersCommand,
  type BeginCommand,
  type BegunReport,
  type BodyCommand,
  type CertificateCommand,
  type ContextCommand,
  type EndSpec,
  type FlowReport,
  finishedWithNothing,
  type GivenAway,
  type ListenCommand,
  type MergeCommand,
  type MergeEvent,
  type MergeOrder,
  type RefusedReport,
  type SecureCommand,
  type SessionCommand,
  type ThreadCommand,
  type ThreadReport,
  type TunnelCommand,
} from './thread-message.ts';

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;
export type FlowCommand = WithoutId<TunnelCommand | BodyCommand | MergeCommand | AnswersCommand>;

export interface FlowListener {
  readonly onProgress: (bytesDown: number, bytesUp: number) => void;
  readonly onFinished: (report: FlowReport) => void;
  /** Of a merge, or of a connection that brings parts of one. */
  readonly onMerge?: (event: MergeEvent) => void;
}

/** A flow of a thread. */
export interface StartedFlow {
  readonly id: number;
  readonly cancel: () => void;
}

/** What is told of a TLS connection. */
export interface SessionListener extends Pick<FlowListener, 'onFinished'> {
  readonly onSecured: (isResumed: boolean) => void;
  /** The answer to `give-away`. */
  readonly onGivenAway: (state: GivenAway['state']) => void;
}

/** What is told of a listener. */
export interface AcceptListener extends Pick<FlowListener, 'onFinished'> {
  readonly onAccepted: (report: AcceptedReport) => void;
  readonly onRefused: (report: RefusedReport) => void;
}

/** A relay thread as the main thread sees it. */
export interface RelayThread {
  /** Whether it takes flows; a thread that has crashed or been closed does not. */
  readonly isAlive: () => boolean;
  /** Hands a flow over with its descriptors; the result cancels it. Exactly one `onFinished` follows. */
  readonly start: (command: FlowCommand, listener: FlowListener) => () => void;
  /** The same, with the number by which the flow can be told more. */
  readonly begin: (command: FlowCommand, listener: FlowListener) => StartedFlow;
  /** Begins a digest of what flows of this thread carry, by the id that it is given to them with. */
  readonly openDigest: (algorithm: DigestAlgorithm) => FlowDigest;
  /**
   * Hands a TLS connection over with its descriptor; the result names it. Exactly one `onFinished` follows,
   * unless it is given away.
   */
  readonly secure: (command: Omit<SecureCommand, 'id'>, listener: SessionListener) => number;
  /**
   * Has it take connections from a descriptor, which is the thread's from then on; the result stops it.
   * Exactly one `onFinished` follows.
   */
  readonly listen: (
    command: Omit<ListenCommand, 'id'>,
    listener: AcceptListener,
  ) => { readonly id: number; readonly stop: () => void };
  readonly tell: (
    command: SessionCommand | ContextCommand | AbandonCommand | CertificateCommand | MergeOrder,
  ) => void;
  /**
   * Begins a client's TLS connection that has no descriptor yet; undefined where that is impossible, or the
   * thread dies.
   */
  readonly beginTls: (command: Pick<BeginCommand, 'context' | 'host'>) => Promise<BegunReport['begun']>;
  /** Why it ends no TLS; undefined where it does. */
  readonly whyNoTls: string | undefined;
  /** Lets it give back memory that it does not need, for the whole process rests. */
  readonly rest: () => void;
  /** Flows that it has. */
  readonly running: () => number;
  /** Cancels every flow and waits for the end of the thread. */
  readonly close: () => Promise<void>;
}

interface Running
  extends FlowListener,
    Partial<Omit<SessionListener, 'onFinished'>>,
    Partial<Omit<AcceptListener, 'onFinished'>> {
  readonly descriptors: readonly number[];
}

const WORKER = new URL('./relay-worker.ts', import.meta.url);

/**
 * Starts the thread. It does not keep the process alive while no flow runs, and it ends with the process. Rejects when
 * it cannot start.
 *
 * @param onCrash called once if the thread dies by itself; its flows have then been reset.
 */
export async function startRelayThread(
  kernel: Kernel,
  onCrash: (cause: unknown) => void,
  endsTls = false,
): Promise<RelayThread> {
  const waker = kernel.makeWaker();
  if (waker < 0) throw new Error(`eventfd failed, errno ${-waker}`);
  const { port1: port, port2 } = new MessageChannel();
  const mail = new Mail();
  const workerData: RelayWorkerData = {
    port: port2,
    waker,
    mail: mail.memory,
    tls: endsTls ? { own: selfSigned(), ciphers: DEFAULT_CIPHERS, groups: LISTENER_GROUPS } : undefined,
  };
  const worker = new Worker(WORKER, { name: 'relay', execArgv: [], workerData, transferList: [port2] });
  const flows = new Map<number, Running>();
  const digests = new AwaitedReports<Uint8Array | undefined>();
  /** First words that are awaited. */
  const begins = new AwaitedReports<BegunReport['begun']>();
  let nextId = 1;
  let alive = false;
  let cause: unknown;

  const send = (command: ThreadCommand) => {
    port.postMessage(command);
    if (mail.note()) kernel.wake(waker);
  };
  let isWaking = false;
  /** Wakes it once for all that is said in one turn of the event loop: it may run on the same core. */
  const wakeSoon = () => {
    if (isWaking) return;
    isWaking = true;
    setImmediate(() => {
      isWaking = false;
      if (alive && mail.note()) kernel.wake(waker);
    });
  };
  const stop = () => send({ type: 'stop' });
  const restIfIdle = () => {
    if (flows.size + begins.size === 0) port.unref();
  };
  const settle = (report: FlowReport) => {
    const flow = flows.get(report.id);
    flows.delete(report.id);
    restIfIdle();
    flow?.onFinished(report);
  };
  const giveAway = ({ id, state }: GivenAway) => {
    const session = flows.get(id);
    if (state) flows.delete(id);
    restIfIdle();
    session?.onGivenAway?.(state);
  };
  const takeId = () => {
    const id = nextId;
    nextId += 1;
    return id;
  };
  const add = (
    command: FlowCommand | Omit<SecureCommand, 'id'> | Omit<ListenCommand, 'id'>,
    running: Running,
  ) => {
    const id = takeId();
    flows.set(id, running);
    port.ref();
    send({ ...command, id });
    return id;
  };
  const handle = (report: ThreadReport) => {
    if (report.type === 'finished') settle(report);
    else if (report.type === 'secured') flows.get(report.id)?.onSecured?.(report.isResumed);
    else if (report.type === 'accepted') flows.get(report.id)?.onAccepted?.(report);
    else if (report.type === 'refused') flows.get(report.id)?.onRefused?.(report);
    else if (report.type === 'given-away') giveAway(report);
    else if (report.type === 'begun') {
      begins.settle(report.id, report.begun);
      restIfIdle();
    } else if (report.type === 'digest') digests.settle(report.id, report.digest);
    else if (report.type === 'merges')
      for (const event of report.events) flows.get(event.id)?.onMerge?.(event);
    else if (report.type === 'progress')
      for (const [id, down, up] of report.flows) flows.get(id)?.onProgress(down, up);
  };

  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      const crashed = alive;
      alive = false;
      process.off('exit', stop);
      for (let last = receiveMessageOnPort(port); last; last = receiveMessageOnPort(port))
        handle(last.message);
      // What it could not say goodbye to is still open under these numbers.
      for (const [id, { descriptors, onAccepted }] of flows) {
        for (const descriptor of descriptors) {
          // Connections have from their listener what is set on it, and others still take from it.
          if (!onAccepted) kernel.resetOnClose(descriptor, true);
          kernel.close(descriptor);
        }
        settle(finishedWithNothing(id, 'relay-failed'));
      }
      digests.settleAll(undefined);
      begins.settleAll(undefined);
      port.close();
      kernel.close(waker);
      if (crashed) onCrash(cause);
      resolve();
    });
  });
  worker.on('error', (error) => {
    cause = error;
  });

  const [first] = (await Promise.race([
    once(port, 'message'),
    exited.then((): [undefined] => [undefined]),
  ])) as [Extract<ThreadReport, { type: 'ready' }> | undefined];
  if (!first) throw new Error('a relay thread did not start', { cause });
  alive = true;
  port.on('message', handle);
  // A thread inside a foreign call cannot be terminated: it must be told, or the process would never end.
  process.on('exit', stop);
  worker.unref();
  port.unref();

  /** Ends a flow, a session or a listener that it still has. */
  const cancel = (id: number) => {
    if (alive && flows.has(id)) send({ type: 'cancel', id });
  };
  const beginFlow = (command: FlowCommand, listener: FlowListener): StartedFlow => {
    const id = add(command, { ...listener, descriptors: endsOf(command).map(descriptorOfEnd) });
    return { id, cancel: () => cancel(id) };
  };

  return {
    isAlive: () => alive,
    begin: beginFlow,
    running: () => flows.size,
    openDigest: (algorithm) => {
      const id = takeId();
      send({ type: 'digest-begin', id, algorithm });
      return {
        id,
        add: (bytes) => {
          if (alive) send({ type: 'digest-add', id, bytes });
        },
        finish: async () => {
          if (!alive) return undefined;
          send({ type: 'digest-finish', id });
          return digests.answerTo(id);
        },
        drop: () => {
          if (alive) send({ type: 'digest-drop', id });
        },
      };
    },
    whyNoTls: first.tls,
    secure: (command, listener) =>
      add(command, { ...listener, onProgress: () => undefined, descriptors: [command.descriptor] }),
    listen: (command, listener) => {
      const id = add(command, {
        ...listener,
        onProgress: () => undefined,
        descriptors: [command.descriptor],
      });
      return { id, stop: () => cancel(id) };
    },
    tell: (command) => {
      if (!alive) return;
      port.postMessage(command);
      wakeSoon();
    },
    rest: () => {
      if (alive) send({ type: 'rest' });
    },
    beginTls: async (command) => {
      const id = takeId();
      port.ref();
      send({ ...command, type: 'begin', id });
      return begins.answerTo(id);
    },
    start: (command, listener) => beginFlow(command, listener).cancel,
    close: async () => {
      if (alive) {
        alive = false;
        for (const id of flows.keys()) send({ type: 'cancel', id });
        worker.ref();
        stop();
      }
      await exited;
    },
  };
}

function endsOf(command: FlowCommand): readonly EndSpec[] {
  if (command.type === 'tunnel') return [command.downstream, command.upstream];
  if (command.type === 'merge') return [command.sink];
  return command.type === 'answers' ? [command.source] : [command.source, command.sink];
}

function descriptorOfEnd(end: EndSpec): number {
  return typeof end === 'number' ? end : end.descriptor;
}
