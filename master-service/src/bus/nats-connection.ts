import type { ErrorCode } from '@longhaul/shared';
import type { TlsMaterial } from '@longhaul/shared/service';
import {
  connect,
  type Msg,
  type NatsConnection,
  type NodeConnectionOptions,
  PermissionViolationError,
  type TlsOptions,
} from '@nats-io/transport-node';
import { MOST_TEXT_BYTES } from './state-bus.ts';

/**
 * A server that is not there, or does not let this master in, is tried again after this time and up to half
 * as much more.
 */
const RETRY_MS = 500;
/** A server that has not greeted after this is none. */
const GREETING_MS = 5_000;
/** A server is asked so often whether it is there: on its own machine or near ... */
const PING_MS = 2_000;
/** ... and given up when so many questions have no answer. */
const MOST_UNANSWERED_PINGS = 2;
/** Bytes given to the server that it has not taken yet. More is left out, and asked for by those who miss it. */
const MOST_PENDING_BYTES = 16 * 1024 * 1024;
/** How often it is told that there is no connection. */
const TELL_MS = 5_000;
/** Longest wait for the last words at the end. */
const LAST_WORDS_MS = 500;

/** Where NATS is, and what it knows this master by. */
export interface NatsAccess {
  /** URLs, best first. */
  readonly servers: readonly string[];
  /** Left out, TLS is not asked for. */
  readonly tls?: NatsTls;
}

/**
 * What a server knows this master by, and by which authorities this master knows a server: those of the
 * system where there are none.
 */
export interface NatsTls extends TlsMaterial {
  readonly authorities: readonly string[];
}

export interface NatsWatcher {
  /** Told each time that the server can be reached again, the first time included. */
  readonly onConnected: (server: string) => void;
  /** Told of everything that goes wrong. */
  readonly onFailed: (code: ErrorCode, detail?: string) => void;
}

interface NatsConnectionInit extends NatsWatcher {
  /** What the servers' lists show. */
  readonly name: string;
  readonly access: NatsAccess;
}

/**
 * A connection to one of some NATS servers, for ever: lost, it is made again. Nothing is kept for a server
 * that is away.
 */
export class LastingNatsConnection {
  readonly #init: NatsConnectionInit;
  /** The client reads it anew at each attempt. */
  readonly #tls: TlsOptions | undefined;
  /** Each makes one of its subscriptions at a new connection. */
  readonly #subscriptions: ((connection: NatsConnection) => void)[] = [];
  /** The one that stands. */
  #connection: NatsConnection | undefined;
  /** Whether a server has greeted since it was last told that there is no connection. */
  #isGreeted = false;
  /** Whether it was told why there is no connection. */
  #isExplained = false;
  #pendingBytes = 0;
  #settling: NatsConnection | undefined;
  #isClosed = false;
  #telling: NodeJS.Timeout | undefined;

  constructor(init: NatsConnectionInit) {
    this.#init = init;
    this.#tls = init.access.tls && tlsOptions(init.access.tls);
  }

  /** Connects, and stays connected until `close`. */
  start(): void {
    this.#telling = setInterval(() => void this.#tellAbsence(), TELL_MS).unref();
    void this.#stayConnected();
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** Takes other certificates for the next connection; a connection without TLS stays so. */
  renew(tls: NatsTls): void {
    if (this.#tls) Object.assign(this.#tls, tlsOptions(tls));
  }

  /** Calls `take` with every message of a subject; one of those who share a `queue` has each. */
  subscribe(subject: string, take: (message: Msg) => void, queue?: string): void {
    const subscribe = (connection: NatsConnection): void => {
      const callback = (refusal: Error | null, message: Msg) => {
        // What is thrown in the client's own turn would end its reading for good. A refusal is told with the status.
        if (refusal === null) queueMicrotask(() => take(message));
      };
      connection.subscribe(subject, { callback, ...(queue === undefined ? {} : { queue }) });
    };
    this.#subscriptions.push(subscribe);
    if (this.#connection) subscribe(this.#connection);
  }

  /** Sends a text at once or not at all; `false` when it was left out. */
  publish(subject: string, text: string, reply?: string): boolean {
    const { onFailed } = this.#init;
    if (!this.#connection) return false;
    const sizeBytes = Buffer.byteLength(text);
    if (this.#pendingBytes + sizeBytes > MOST_PENDING_BYTES) {
      onFailed('bus-overfull', `${this.#pendingBytes} bytes wait for the server`);
      return false;
    }
    try {
      this.#connection.publish(subject, text, reply === undefined ? {} : { reply });
    } catch (failure) {
      onFailed('bus-refused', messageOf(failure));
      return false;
    }
    this.#pendingBytes += sizeBytes;
    void this.#settle(this.#connection);
    return true;
  }

  /** Resolves when the server has taken all that was published; `false` when it is gone first. */
  async flush(): Promise<boolean> {
    const connection = this.#connection;
    if (!connection) return false;
    return Promise.race([connection.flush(), connection.closed()]).then(
      () => connection === this.#connection,
      () => false,
    );
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    const impatience = new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS).unref());
    await Promise.race([this.flush(), impatience]);
    this.#isClosed = true;
    clearInterval(this.#telling);
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  /** Connects, follows the connection until it ends, and begins again. */
  async #stayConnected(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const connection = await connect(this.#options());
        if (this.#isClosed) return await connection.close();
        for (const subscribe of this.#subscriptions) subscribe(connection);
        this.#noteConnected(connection);
        await this.#watch(connection);
      } catch (failure) {
        if (this.#isClosed) return;
        this.#init.onFailed('bus-unreachable', messageOf(failure));
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
  }

  #options(): NodeConnectionOptions {
    const { name, access } = this.#init;
    return {
      servers: [...access.servers],
      name,
      ...(this.#tls ? { tls: this.#tls } : {}),
      // Asked once a server has greeted: it is known by its certificate, if at all.
      authenticator: () => {
        this.#isGreeted = true;
      },
      // A master does not hear itself, and never asks itself.
      noEcho: true,
      // In their order, and only those that the operator has named.
      noRandomize: true,
      ignoreClusterUpdates: true,
      // Until there is one; a connection that was lost is not taken up again, but a new one made.
      waitOnFirstConnect: true,
      reconnect: false,
      reconnectDelayHandler: () => {
        // The client has no other way out of its attempts.
        if (this.#isClosed) throw new Error('closed');
        return RETRY_MS * (1 + Math.random() / 2);
      },
      timeout: GREETING_MS,
      pingInterval: PING_MS,
      maxPingOut: MOST_UNANSWERED_PINGS,
    };
  }

  /** Follows what becomes of a connection, until it ends. */
  async #watch(connection: NatsConnection): Promise<void> {
    const { onFailed } = this.#init;
    for await (const status of connection.status()) {
      if (status.type === 'error') {
        const isRefusal = status.error instanceof PermissionViolationError;
        onFailed(isRefusal ? 'bus-refused' : 'bus-unreachable', status.error.message);
        // The client would wait until a server that has stopped reading has read the rest.
      } else if (status.type === 'staleConnection') void connection.close();
    }
    await connection.closed();
    this.#connection = undefined;
    this.#isGreeted = false;
    if (!this.#isClosed) onFailed('bus-unreachable', connection.getServer());
  }

  #noteConnected(connection: NatsConnection): void {
    this.#connection = connection;
    this.#isExplained = false;
    this.#pendingBytes = 0;
    const most = connection.info?.max_payload ?? MOST_TEXT_BYTES;
    if (most < MOST_TEXT_BYTES) {
      this.#init.onFailed('bus-refused', `max_payload is ${most}, and must be ${MOST_TEXT_BYTES} or more`);
    }
    this.#init.onConnected(connection.getServer());
  }

  /** Minds how much the server has not taken yet, by questions whose answers stand behind it. */
  async #settle(connection: NatsConnection): Promise<void> {
    if (this.#settling === connection) return;
    this.#settling = connection;
    while (this.#pendingBytes > 0 && this.#connection === connection) {
      const bytes = this.#pendingBytes;
      if (await this.flush()) this.#pendingBytes -= bytes;
    }
    if (this.#settling === connection) this.#settling = undefined;
  }

  async #tellAbsence(): Promise<void> {
    if (this.#connection) return;
    // One that greets and then lets nobody in does not know this master.
    const code = this.#isGreeted ? 'bus-refused' : 'bus-unreachable';
    this.#isGreeted = false;
    const detail = this.#isExplained ? undefined : await this.#explain();
    this.#isExplained = true;
    if (!this.#isClosed) this.#init.onFailed(code, detail);
  }

  /** Why no server takes the connection: the client keeps its failures to itself while it goes on trying. */
  async #explain(): Promise<string | undefined> {
    const once = { ...this.#options(), waitOnFirstConnect: false };
    return connect(once).then(
      (connection) => connection.close().then(() => undefined),
      (failure: unknown) => messageOf(failure),
    );
  }
}

function tlsOptions({ cert, key, authorities }: NatsTls): TlsOptions {
  return { cert, key, ...(authorities.length > 0 ? { ca: authorities.join('\n') } : {}) };
}

function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
