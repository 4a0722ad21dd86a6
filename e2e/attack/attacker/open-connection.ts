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
 * Opens a connection, over which nothing is sent yet. Errors on it are swallowed: to be cut off is an
 * attacker's daily life. Never rejects; one that is not taken is `destroyed`.
 */
export async function openConnection({ host, port }: Place, options: ConnectionOptions): Promise<Socket> {
  const raw = connect({ host, port, localAddress: options.from, noDelay: true, allowHalfOpen: true });
  const signal = AbortSignal.timeout(PATIENCE_MS);
  raw.on('error', () => undefined);
  await once(raw, 'connect', { signal }).catch(() => raw.destroy());
  if (!options.tls || raw.destroyed) return raw;
  const secured = connectTls({ socket: raw, rejectUnauthorized: false });
  secured.on('error', () => undefined);
  await once(secured, 'secureConnect', { signal }).catch(() => secured.destroy());
  return secured;
}
