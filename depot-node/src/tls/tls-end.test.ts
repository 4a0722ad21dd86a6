import { constants } from 'node:os';
import { DEFAULT_CIPHERS } from 'node:tls';
import { LISTENER_GROUPS, selfSigned } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLibc } from '../kernel/libc.ts';
import { openKernel, openOpenSsl } from '../kernel/open-kernel.ts';
import { makeContext, TICKET_KEY_BYTES } from './tls-context.ts';
import { TlsEnd } from './tls-end.ts';

const { kernel } = openKernel();
const BUFFER_BYTES = 262_144;
const NOT_REQUESTED = 0;

describe.runIf(kernel)('a TLS connection with a peer that is a nuisance (Linux with koffi)', () => {
  if (!kernel) return;
  const openSsl = openOpenSsl();
  const calls = { openSsl, kernel };
  const { EAGAIN, EINTR, EPROTO } = constants.errno;
  const newTicket = openLibc().bind('SSL_new_session_ticket', 'int', 'intptr_t');
  const renewKey = openLibc().bind('SSL_key_update', 'int', 'intptr_t', 'int');
  const memory = kernel.buffer(BUFFER_BYTES);
  let end: TlsEnd;
  let peer: TlsEnd;
  let endConnection: number;
  let peerConnection: number;
  let contexts: number[];

  beforeEach(() => {
    const pair = kernel.makeSocketPair();
    if (!pair) throw new Error('no descriptors left');
    const own = selfSigned();
    contexts = [
      makeContext(
        calls,
        { role: 'server', ...own, groups: LISTENER_GROUPS, ticketKeys: new Uint8Array(TICKET_KEY_BYTES) },
        DEFAULT_CIPHERS,
      ),
      makeContext(calls, { role: 'client', authorities: [own.cert] }, DEFAULT_CIPHERS),
    ];
    const [server = 0, client = 0] = contexts;
    const common = { calls, head: new Uint8Array(0) };
    const begin = (role: 'server' | 'client', context: number, descriptor: number) => {
      const address = openSsl.newConnection(context);
      openSsl.beginAs(address, role);
      openSsl.useDescriptor(address, descriptor);
      const connection = { address, isNew: false };
      return { address, end: new TlsEnd({ ...common, context, role, descriptor, connection }) };
    };
    ({ address: endConnection, end } = begin('server', server, pair[0]));
    ({ address: peerConnection, end: peer } = begin('client', client, pair[1]));
    for (let turn = 0; turn < 4; turn += 1) {
      peer.handshake();
      end.handshake();
    }
    // Session tickets.
    expect(readOn(peer).result).toBe(-EAGAIN);
  });
  afterEach(() => {
    for (const one of [end, peer]) one.close();
    for (const context of contexts) openSsl.freeContext(context);
  });

  /** Gives the other end new keys, again and again: nothing is inside. Gives how many fitted. */
  function renewKeys(most: number): number {
    for (let count = 0; count < most; count += 1) {
      if (renewKey(peerConnection, NOT_REQUESTED) !== 1 || openSsl.handshake(peerConnection) !== 1)
        return count;
    }
    return most;
  }

  /** Reads again as often as others would have had their turn between, and what came of the last time. */
  function readOn(one: TlsEnd): { readonly turns: number; readonly result: number } {
    for (let turns = 0; ; turns += 1) {
      const result = one.read(memory.address, BUFFER_BYTES);
      if (result !== -EINTR) return { turns, result };
    }
  }

  test('gets what is said behind records that bring nothing', () => {
    for (let time = 0; time < 3; time += 1) {
      expect(renewKeys(8)).toBe(8);
      expect(peer.write(memory.address, 1000)).toBe(1000);
      expect(readOn(end).result).toBe(1000);
    }
    expect(renewKeys(1)).toBe(1);
    expect(readOn(end).result).toBe(-EAGAIN);
  });

  test('leaves others their turn behind records that bring nothing, and reads on', () => {
    for (let time = 0; time < 3; time += 1) {
      expect(newTicket(endConnection)).toBe(1);
      expect(openSsl.handshake(endConnection)).toBe(1);
      expect(peer.read(memory.address, BUFFER_BYTES)).toBe(-EINTR);
      expect(peer.readable).toBe(true);
    }
    expect(end.write(memory.address, 1000)).toBe(1000);
    expect(peer.read(memory.address, BUFFER_BYTES)).toBe(1000);
  });

  test('ends with one that sends nothing but such records, before all of them are read', () => {
    let sent = 0;
    let result = -EAGAIN;
    while (result === -EAGAIN && sent < 100_000) {
      sent += renewKeys(100);
      ({ result } = readOn(end));
    }
    expect(result).toBe(-EPROTO);
    expect(sent).toBeLessThan(2_000);
  });

  test('takes so many records of one byte in a read, and the rest in the next ones', () => {
    for (let byte = 0; byte < 100; byte += 1) expect(peer.write(memory.address, 1)).toBe(1);
    const first = end.read(memory.address, BUFFER_BYTES);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(64);
    expect(end.readable).toBe(true);
    let taken = first;
    for (let more = first; more > 0; taken += Math.max(0, more))
      more = end.read(memory.address, BUFFER_BYTES);
    expect(taken).toBe(100);
  });
});
