import { constants } from 'node:os';
import type { UnusedConnections } from '@longhaul/shared/service';
import { SharedCounts } from '../tls/shared-counts.ts';
import type { TlsCalls } from '../tls/tls-end.ts';
import { AcceptedConnection } from './accepted-connection.ts';
import { PlainEnd } from './end.ts';
import type { Flow, FlowComponents, Turn } from './flow.ts';
import type { FlowEnd, ListenCommand, ThreadReport } from './thread-message.ts';

const { EAGAIN, EBADF, EINVAL, EMFILE, ENFILE, ENOBUFS, ENOMEM } = constants.errno;
/** Taken in one turn: what has been taken already goes on in between. */
const ACCEPTS_PER_TURN = 8;
/** They pass, and no event says when. */
const OUT_OF_RESOURCES: ReadonlySet<number> = new Set([-EMFILE, -ENFILE, -ENOBUFS, -ENOMEM]);
/** Nothing comes any more. */
const OVER: ReadonlySet<number> = new Set([-EINVAL, -EBADF]);
/** Networks that are told apart among those closed at once between two reports. */
const MOST_REFUSED_NETWORKS = 64;

export interface TlsListenerInit {
  readonly calls: TlsCalls;
  readonly components: FlowComponents;
  readonly contextOf: (context: number) => number;
  readonly enqueue: (flow: Flow) => void;
  readonly report: (report: ThreadReport) => void;
  readonly nowMs: () => number;
  /** A number for a flow that the main thread does not know. */
  readonly nextId: () => number;
  readonly start: (flow: Flow) => void;
  readonly finish: (flow: Flow, end: FlowEnd) => void;
  /** Forgets a flow without closing what it has. */
  readonly forget: (flow: Flow) => void;
}

/** Takes the connections of a listening socket, which other threads take from as well, as far as the bounds allow. */
export class TlsListener implements Flow {
  readonly id: number;
  readonly ends: readonly [PlainEnd];
  readonly wantsProgress = false;
  readonly isListener = true;
  queued = false;
  reportedBytes = 0;
  readonly #command: ListenCommand;
  readonly #init: TlsListenerInit;
  readonly #counts: SharedCounts;
  readonly #unused: UnusedConnections;
  readonly #connections = new Set<AcceptedConnection>();
  readonly #refused = new Map<string, number>();
  #context: number;
  /** Whether connections may wait of which no event will tell. */
  #leftSome = false;

  constructor(command: ListenCommand, init: TlsListenerInit) {
    this.#command = command;
    this.#init = init;
    this.id = command.id;
    this.ends = [new PlainEnd(command.descriptor, init.components.kernel)];
    this.#context = command.context;
    this.#counts = new SharedCounts(command.threads, command.counts);
    this.#unused = this.#counts.unused(command.limits.unusedPerNetwork, command.limits.unusedBackMs);
  }

  /** Whether something is to be done when time has passed. */
  get isWaiting(): boolean {
    return this.#leftSome || this.#refused.size > 0;
  }

  useCertificate(context: number): void {
    this.#context = context;
  }

  turn(): Turn {
    const { kernel } = this.#init.components;
    this.#leftSome = false;
    for (let count = 0; count < ACCEPTS_PER_TURN; count += 1) {
      const descriptor = kernel.accept(this.ends[0].descriptor);
      if (descriptor >= 0) this.#take(descriptor);
      else if (OUT_OF_RESOURCES.has(descriptor)) {
        this.#leftSome = true;
        return 'wait';
      } else if (descriptor === -EAGAIN || OVER.has(descriptor)) return 'wait';
    }
    return 'again';
  }

  expired(): undefined {
    if (this.#refused.size > 0) {
      this.#init.report({ type: 'refused', id: this.id, refused: [...this.#refused] });
      this.#refused.clear();
    }
    if (this.#leftSome) this.#init.enqueue(this);
  }

  bytesUp(): number {
    return 0;
  }

  bytesDown(): number {
    return 0;
  }

  /** What has not come to its first word ends with the listener. */
  finish(): undefined {
    for (const connection of this.#connections) this.#init.finish(connection, 'cancelled');
  }

  #take(descriptor: number): void {
    const { limits, holder, id } = this.#command;
    const { kernel } = this.#init.components;
    const network = kernel.acceptedNetwork();
    const seen = this.#counts.seen(network);
    const isWithin =
      seen.all < limits.most &&
      seen.open < limits.perNetwork &&
      seen.waiting < limits.waitingPerNetwork &&
      !this.#unused.hasTooMany(network);
    if (isWithin) this.#begin(descriptor, network);
    // Who it is may make a difference, and only the main thread knows.
    else if (this.#counts.passUp(holder))
      this.#init.report({ type: 'accepted', id, descriptor, network, state: undefined });
    else {
      kernel.close(descriptor);
      const times = this.#refused.get(network);
      if (times !== undefined || this.#refused.size < MOST_REFUSED_NETWORKS)
        this.#refused.set(network, (times ?? 0) + 1);
    }
  }

  #begin(descriptor: number, network: string): void {
    const { calls, components, contextOf, nowMs, nextId, start, forget, report } = this.#init;
    const { holder, id } = this.#command;
    this.#counts.add(holder, network, 1);
    const connection: AcceptedConnection = new AcceptedConnection({
      id: nextId(),
      descriptor,
      contextNow: () => contextOf(this.#context),
      calls,
      components,
      nowMs: nowMs(),
      onSecured: (isResumed) => this.#counts.noteHandshake(holder, isResumed),
      handOver: (flow, state) => {
        this.#connections.delete(flow);
        forget(flow);
        // It is counted here until the main thread counts it.
        report({ type: 'accepted', id, descriptor, network, state });
      },
      onEnd: () => {
        this.#connections.delete(connection);
        this.#counts.add(holder, network, -1);
        this.#unused.note(network);
      },
    });
    this.#connections.add(connection);
    start(connection);
  }
}
