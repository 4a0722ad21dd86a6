import { DEFAULT_CIPHERS } from 'node:tls';
import { LISTENER_GROUPS, selfSigned } from '@longhaul/shared/service';
import { expect, test } from 'vitest';
import { SOCKET_OPTIONS } from '../kernel/linux-constants.ts';
import { openKernel, openOpenSsl } from '../kernel/open-kernel.ts';
import { descriptorOf, stopReading } from '../kernel/tcp-handle.ts';
import { createTcpInfoReader } from '../sockets/tcp-info.ts';
import { makeContext, TICKET_KEY_BYTES } from '../tls/tls-context.ts';
import { TlsEnd } from '../tls/tls-end.ts';
import { BUFFER_BYTES } from './buffer-pool.ts';
import { socketPair } from './promises/socket-pair.ts';

const { kernel } = openKernel();
const RECORD_BYTES = 16_384;

test.runIf(kernel)(
  'records that are given at once share packets, and none waits for bytes that come later',
  async () => {
    if (!kernel) return;
    const openSsl = openOpenSsl();
    const calls = { openSsl, kernel };
    const own = selfSigned();
    const ticketKeys = new Uint8Array(TICKET_KEY_BYTES);
    const contexts = [
      makeContext(calls, { role: 'server', ...own, groups: LISTENER_GROUPS, ticketKeys }, DEFAULT_CIPHERS),
      makeContext(calls, { role: 'client', authorities: [own.cert] }, DEFAULT_CIPHERS),
    ] as const;
    const sockets = await socketPair();
    const [far = -1, near = -1] = sockets.map((socket) => {
      stopReading(socket);
      return kernel.duplicate(descriptorOf(socket) ?? -1);
    });
    const common = { calls, head: new Uint8Array(0) };
    const server = new TlsEnd({ ...common, context: contexts[0], role: 'server', descriptor: near });
    const client = new TlsEnd({ ...common, context: contexts[1], role: 'client', descriptor: far });
    const readInfo = createTcpInfoReader(kernel);
    const sentSegments = () => readInfo(near)?.sentSegments ?? 0;
    const memory = kernel.buffer(BUFFER_BYTES);
    const take = (bytes: number) => {
      for (let taken = 0; taken < bytes; ) taken += Math.max(0, client.read(memory.address, BUFFER_BYTES));
    };
    try {
      kernel.setNumber(near, SOCKET_OPTIONS.noDelay, 1);
      for (let turn = 0; turn < 4; turn += 1) {
        client.handshake();
        server.handshake();
      }
      // A new connection may have fewer bytes on their way than one write has.
      for (let turn = 0; turn < 8; turn += 1) take(server.write(memory.address, BUFFER_BYTES));
      const before = sentSegments();
      const given = server.write(memory.address, BUFFER_BYTES);
      expect(kernel.readNumber(near, SOCKET_OPTIONS.cork)).toBe(0);
      take(given);
      expect(given).toBeGreaterThan(8 * RECORD_BYTES);
      expect(sentSegments() - before).toBeLessThan(given / RECORD_BYTES / 2);
      while (server.write(memory.address, BUFFER_BYTES) === BUFFER_BYTES);
      expect(server.writable).toBe(false);
      expect(kernel.readNumber(near, SOCKET_OPTIONS.cork), 'also where there was no room').toBe(0);
    } finally {
      server.close();
      client.close();
      for (const context of contexts) openSsl.freeContext(context);
      for (const socket of sockets) socket.destroy();
    }
  },
);
