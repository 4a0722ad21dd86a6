import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface Place {
  readonly host: string;
  readonly port: number;
}

export interface ConnectionOptions {
  /** The attacker's own address, or another one of its network. */
  readonly from: string;
  /** Speaks TLS, and believes whoever answers. */
  readonly tls: boolean;
}

/** A service that has not taken a connection by then is not going to. */
const PATIENCE_MS = 10_000;

/**
 * Opens a connection, over which nothing is sent yet. Errors on it are swallowed: to be cut off is an attacker's daily life.
 * Rejects when it is not taken.
 */
export async function openConnection({ host, port }: Place, options: ConnectionOptions): Promise<Socket> {
  const raw = connect({ host, port, localAddress: options.from, noDelay: true, allowHalfOpen: true });
  const signal = AbortSignal.timeout(PATIENCE_MS);
  await once(raw, 'connect', { signal }).catch((failure: unknown) => {
    raw.destroy();
    throw failure;
  });
  raw.on('error', () => undefined);
  if (!options.tls) return raw;
  const secured = connectTls({ socket: raw, rejectUnauthorized: false });
  await once(secured, 'secureConnect', { signal }).catch((failure: unknown) => {
    raw.destroy();
    throw failure;
  });
  return secured.on('error', () => undefined);
}
