import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { connect, TLSSocket } from 'node:tls';
import { selfSigned } from '@longhaul/shared/service';
import { rememberRawSocket } from '../../sockets/reset.ts';
import type { TlsEnding } from '../../tls/tls-ending.ts';
import { socketPair } from './socket-pair.ts';

const own = selfSigned();
const authorities = [own.cert];

/**
 * Both ends of a real TLS connection: the first by Node, for the test; the second, for the relay, by what is
 * tested, as a server or as a client.
 */
export async function tlsPair(ending: TlsEnding, role: 'server' | 'client'): Promise<[Socket, Socket]> {
  const [one, other] = await socketPair();
  const [outerRaw, innerRaw] = role === 'server' ? [one, other] : [other, one];
  const outer =
    role === 'server'
      ? connect({ socket: outerRaw, ca: own.cert, host: '127.0.0.1' })
      : new TLSSocket(outerRaw, { isServer: true, ...own });
  rememberRawSocket(outer, outerRaw);
  // A TLS socket of Node has none of its own.
  outer.resetAndDestroy = () => {
    outerRaw.resetAndDestroy();
    outer.destroy();
    return outer;
  };
  const stands = once(outer, role === 'server' ? 'secureConnect' : 'secure');
  const securing =
    role === 'server' ? ending.accept(innerRaw, own) : ending.connect(innerRaw, '127.0.0.1', authorities);
  if (!securing) throw new Error('nothing ends TLS here');
  const [inner] = await Promise.all([securing.secured, stands]);
  // Until its handshake has been written, Node ends a connection without a goodbye.
  await setImmediate();
  return [outer, inner as Socket];
}
