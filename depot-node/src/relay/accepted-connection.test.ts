import { DEFAULT_CIPHERS as CIPHERS } from 'node:tls';
import { LISTENER_GROUPS, selfSigned } from '@longhaul/shared/service';
import { describe, expect, test } from 'vitest';
import { openKernel, openOpenSsl } from '../kernel/open-kernel.ts';
import { makeContext } from '../tls/tls-context.ts';
import { TlsEnd } from '../tls/tls-end.ts';
import { AcceptedConnection } from './accepted-connection.ts';
import { createBufferPool } from './buffer-pool.ts';
import { createPipePool } from './pipe-pool.ts';
import { ThreadDigests } from './thread-digests.ts';
import type { SessionState } from './thread-message.ts';

const { kernel } = openKernel();

describe.skipIf(!kernel)('a connection before its first request', () => {
  if (!kernel) return;
  const calls = { kernel, openSsl: openOpenSsl() };
  const own = selfSigned();
  const contexts = {
    server: makeContext(
      calls,
      { role: 'server', ...own, groups: LISTENER_GROUPS, ticketKeys: new Uint8Array(80) },
      CIPHERS,
    ),
    client: makeContext(calls, { role: 'client', authorities: [own.cert] }, CIPHERS),
  };

  function accept() {
    const [descriptor, far] = kernel?.makeSocketPair() ?? [-1, -1];
    const handed: SessionState[] = [];
    let secured = 0;
    let ends = 0;
    const flow = new AcceptedConnection({
      id: -1,
      descriptor,
      contextNow: () => contexts.server,
      calls,
      components: {
        kernel: calls.kernel,
        pipes: createPipePool(calls.kernel),
        buffers: createBufferPool(calls.kernel),
        digests: new ThreadDigests(),
      },
      nowMs: 0,
      onSecured: () => {
        secured += 1;
      },
      handOver: (_, state) => handed.push(state),
      onEnd: () => {
        ends += 1;
      },
    });
    const client = () =>
      new TlsEnd({
        calls,
        context: contexts.client,
        role: 'client',
        descriptor: far,
        head: new Uint8Array(0),
        host: { name: '127.0.0.1', isAddress: true },
      });
    const shake = (client: TlsEnd, nowMs: number) => {
      // Client, server, client, server: that is all of it.
      for (let turn = 0; turn < 2; turn += 1) {
        client.handshake();
        flow.ends[0].readable = true;
        flow.turn(nowMs);
      }
      expect(secured).toBe(1);
    };
    const close = () => {
      flow.finish();
      flow.ends[0].close();
    };
    return { flow, far, handed, client, shake, close, ends: () => ends };
  }

  test('that brings no handshake ends after fifteen seconds', () => {
    const { flow, handed, close, far, ends } = accept();
    expect([flow.turn(0), flow.isHandshaking]).toEqual(['wait', false]);
    expect([flow.expired(14_999), flow.expired(15_000)]).toEqual([undefined, 'silent']);
    close();
    calls.kernel.close(far);
    expect([handed, ends()]).toEqual([[], 1]);
  });

  test('that asks for nothing behind its handshake is handed over after five seconds, with nothing read', () => {
    const { flow, handed, client, shake, close } = accept();
    const outer = client();
    shake(outer, 1000);
    flow.expired(5999);
    expect(handed).toEqual([]);
    expect(flow.expired(6000)).toBeUndefined();
    expect(handed).toMatchObject([{ isNew: false, unread: new Uint8Array(0) }]);
    calls.openSsl.freeConnection(handed[0]?.connection ?? 0);
    outer.close();
    close();
  });

  test('is handed over with the first bytes that came', () => {
    const { flow, handed, client, shake, close } = accept();
    const outer = client();
    shake(outer, 0);
    const word = Buffer.from('GET / HTTP/1.1');
    const memory = calls.kernel.buffer(word.length);
    new Uint8Array(memory.bytes.buffer).set(word);
    outer.write(memory.address, word.length);
    expect(flow.turn(0)).toBe('wait');
    expect(String(Buffer.from(handed[0]?.unread ?? []))).toBe('GET / HTTP/1.1');
    calls.openSsl.freeConnection(handed[0]?.connection ?? 0);
    outer.close();
    close();
  });
});
