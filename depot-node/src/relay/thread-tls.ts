import { type OpenContext, openContext, setTicketKeys } from '../tls/tls-context.ts';
import { beginConnection } from '../tls/tls-end.ts';
import type {
  BeginCommand,
  CertificateCommand,
  ContextCommand,
  ListenCommand,
  SecureCommand,
  SessionCommand,
} from './thread-message.ts';
import { TlsListener, type TlsListenerInit } from './tls-listener.ts';
import { createTlsSession, type TlsSession } from './tls-session.ts';

type ThreadTlsInit = Omit<TlsListenerInit, 'contextOf' | 'nextId'>;

/** The TLS connections of one thread, and what they are secured with. */
export class ThreadTls {
  readonly #init: ThreadTlsInit;
  readonly #contexts = new Map<number, OpenContext>();
  readonly #sessions = new Map<number, TlsSession>();
  readonly #listeners = new Map<number, TlsListener>();
  /** The main thread's numbers are above 0. */
  #nextId = -1;

  constructor(init: ThreadTlsInit) {
    this.#init = init;
  }

  find(id: number): TlsSession | undefined {
    return this.#sessions.get(id);
  }

  /** Whether a listener has something to do when time has passed. */
  get isWaiting(): boolean {
    for (const listener of this.#listeners.values()) if (listener.isWaiting) return true;
    return false;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Takes the connections of a listening socket. */
  listen(command: ListenCommand): TlsListener {
    const listener = new TlsListener(command, {
      ...this.#init,
      contextOf: (context) => this.#contextOf(context),
      nextId: () => this.#nextId--,
    });
    this.#listeners.set(command.id, listener);
    return listener;
  }

  useCertificate({ id, context }: CertificateCommand): void {
    this.#listeners.get(id)?.useCertificate(context);
  }

  /** Begins a connection, or goes on with one; throws what OpenSSL says. */
  begin(command: SecureCommand): TlsSession {
    const { calls, components, enqueue, report } = this.#init;
    const session = createTlsSession(command, this.#contextOf(command.context), {
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
      const { address, firstFlight } = beginConnection(calls, this.#contextOf(context), host);
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
    this.#listeners.delete(id);
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

  /**
   * What OpenSSL refuses, though the main thread has tried it, fails the connections that ask for it, and
   * nothing else.
   */
  changeContext(command: ContextCommand): void {
    try {
      this.#changeContext(command);
    } catch {
      this.#init.calls.openSsl.takeError();
    }
  }

  #changeContext(command: ContextCommand): void {
    const { calls } = this.#init;
    const known = this.#contexts.get(command.context);
    if (command.type === 'add-context') {
      this.#contexts.set(command.context, openContext(calls, command.spec, command.ciphers));
    } else if (known !== undefined && command.type === 'renew-tickets') {
      setTicketKeys(calls, known.context, command.keys);
    } else if (known !== undefined) {
      this.#contexts.delete(command.context);
      known.free();
    }
  }

  #contextOf(number: number): number {
    return this.#contexts.get(number)?.context ?? 0;
  }

  close(): void {
    for (const { free } of this.#contexts.values()) free();
    this.#contexts.clear();
  }
}
