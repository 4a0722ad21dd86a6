import { makeContext, setTicketKeys } from '../tls/tls-context.ts';
import { beginConnection, type TlsCalls } from '../tls/tls-end.ts';
import type { Flow, FlowComponents } from './flow.ts';
import type {
  BeginCommand,
  ContextCommand,
  SecureCommand,
  SessionCommand,
  ThreadReport,
} from './thread-message.ts';
import { createTlsSession, type TlsSession } from './tls-session.ts';

interface ThreadTlsInit {
  readonly calls: TlsCalls;
  readonly components: FlowComponents;
  readonly enqueue: (flow: Flow) => void;
  readonly report: (report: ThreadReport) => void;
  /** Forgets a session without closing what it has. */
  readonly forget: (flow: Flow) => void;
}

/** The TLS connections of one thread, and what they are secured with. */
export class ThreadTls {
  readonly #init: ThreadTlsInit;
  readonly #contexts = new Map<number, number>();
  readonly #sessions = new Map<number, TlsSession>();

  constructor(init: ThreadTlsInit) {
    this.#init = init;
  }

  find(id: number): TlsSession | undefined {
    return this.#sessions.get(id);
  }

  /** Begins a connection, or goes on with one; throws what OpenSSL says. */
  begin(command: SecureCommand): TlsSession {
    const { calls, components, enqueue, report } = this.#init;
    const session = createTlsSession(command, this.#contexts.get(command.context) ?? 0, {
      ...components,
      calls,
      enqueue,
      onSecured: ({ id, tls }) => report({ type: 'secured', id, isResumed: tls.isResumed }),
    });
    this.#sessions.set(command.id, session);
    return session;
  }

  /** Says what a client's connection says first. */
  sayFirst({ id, context, host }: BeginCommand): void {
    const { calls, report } = this.#init;
    try {
      const { address, firstFlight } = beginConnection(calls, this.#contexts.get(context) ?? 0, host);
      report({ type: 'begun', id, begun: { connection: address, firstFlight } });
    } catch {
      // Whoever asked fails with it; what went wrong with a context has shown in handshakes.
      report({ type: 'begun', id, begun: undefined });
    }
  }

  /** Frees a connection that never got a descriptor. */
  abandon(connection: number): void {
    this.#init.calls.openSsl.freeConnection(connection);
  }

  /** A connection is over. */
  delete(id: number): void {
    this.#sessions.delete(id);
  }

  obey(command: SessionCommand, nowMs: number): void {
    const session = this.#sessions.get(command.id);
    switch (command.type) {
      case 'end-down':
        return session?.endDown();
      case 'close-soon':
        return session?.closeSoon(nowMs);
      case 'give-away': {
        const state = session?.giveAway();
        if (session && state) {
          this.#sessions.delete(command.id);
          this.#init.forget(session);
        }
        return this.#init.report({ type: 'given-away', id: command.id, state });
      }
      default:
        throw new Error(`unknown command ${JSON.stringify(command.type satisfies never)}`);
    }
  }

  changeContext(command: ContextCommand): void {
    const { calls } = this.#init;
    const known = this.#contexts.get(command.context);
    if (command.type === 'add-context') {
      this.#contexts.set(command.context, makeContext(calls, command.spec, command.ciphers));
    } else if (known !== undefined && command.type === 'renew-tickets') {
      setTicketKeys(calls, known, command.keys);
    } else if (known !== undefined) {
      this.#contexts.delete(command.context);
      // Connections have references of their own.
      calls.openSsl.freeContext(known);
    }
  }

  close(): void {
    for (const context of this.#contexts.values()) this.#init.calls.openSsl.freeContext(context);
    this.#contexts.clear();
  }
}
