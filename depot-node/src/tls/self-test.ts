import { constants } from 'node:os';
import type { TlsMaterial } from '@longhaul/shared/service';
import type { SocketCalls } from '../kernel/socket-calls.ts';
import { makeContext, TICKET_KEY_BYTES } from './tls-context.ts';
import { type TlsCalls, TlsEnd } from './tls-end.ts';

const { EAGAIN } = constants.errno;

/** The only one whose numbers and structures these calls were written for. */
const MAJOR_VERSION = 3;
/** A handshake takes three; what takes more does not get done. */
const MOST_TURNS = 10;
const WORD = Buffer.from('and this is what was said inside');

/** What a handshake with itself takes. */
export interface TlsTrial {
  /** A certificate for 127.0.0.1 that trusts itself. */
  readonly own: TlsMaterial;
  /** Those of Node's own TLS. */
  readonly ciphers: string;
  /** Those that listeners take. */
  readonly groups: string;
}

/**
 * Tries the library before anybody relies on it: a handshake with itself, whose certificate is verified, a word and a
 * goodbye. Throws what did not work.
 */
export function tryOpenSsl(
  calls: TlsCalls & { readonly kernel: Pick<SocketCalls, 'makeSocketPair'> },
  { own, ciphers, groups }: TlsTrial,
): void {
  const { major, minor } = calls.openSsl.version();
  if (major !== MAJOR_VERSION) throw new Error(`OpenSSL ${major}.${minor} is not OpenSSL ${MAJOR_VERSION}`);
  const pair = calls.kernel.makeSocketPair();
  if (!pair) throw new Error('no descriptors left');
  const ticketKeys = new Uint8Array(TICKET_KEY_BYTES);
  const contexts = [
    makeContext(calls, { role: 'server', ...own, groups, ticketKeys }, ciphers),
    makeContext(calls, { role: 'client', authorities: [own.cert] }, ciphers),
  ] as const;
  const common = { calls, head: new Uint8Array(0) };
  const server = new TlsEnd({ ...common, context: contexts[0], role: 'server', descriptor: pair[0] });
  const host = { name: '127.0.0.1', isAddress: true };
  const client = new TlsEnd({ ...common, context: contexts[1], role: 'client', descriptor: pair[1], host });
  try {
    shakeHands(server, client);
    const memory = calls.kernel.buffer(WORD.length);
    if (server.read(memory.address, WORD.length) !== -EAGAIN || server.emptyReads > 0)
      throw new Error('that nothing was said was not noticed');
    const inside = new Uint8Array(memory.bytes.buffer, 0, WORD.length);
    inside.set(WORD);
    const given = client.write(memory.address, WORD.length);
    inside.fill(0);
    const taken = server.read(memory.address, WORD.length);
    if (given !== WORD.length || taken !== WORD.length || !WORD.equals(inside))
      throw new Error('what was said was not heard');
    if (client.endWriting() < 0 || server.read(memory.address, WORD.length) !== 0)
      throw new Error('the goodbye was not heard');
  } finally {
    server.close();
    client.close();
    for (const context of contexts) calls.openSsl.freeContext(context);
  }
}

function shakeHands(server: TlsEnd, client: TlsEnd): void {
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const results = [client.handshake(), server.handshake()];
    for (const result of results) if (typeof result === 'object') throw new Error(result.reason);
    if (results.every((result) => result === 'done')) return;
  }
  throw new Error('the handshake with itself does not end');
}
