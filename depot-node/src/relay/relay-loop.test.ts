import { DEFAULT_CIPHERS } from 'node:tls';
import { LISTENER_GROUPS, selfSigned } from '@longhaul/shared/service';
import { describe, expect, test } from 'vitest';
import { openKernel, openOpenSsl } from '../kernel/open-kernel.ts';
import { makeContext, TICKET_KEY_BYTES } from '../tls/tls-context.ts';
import { TlsEnd } from '../tls/tls-end.ts';
import { Mail } from './mail.ts';
import { runRelayLoop } from './relay-loop.ts';
import type { ThreadCommand } from './thread-message.ts';

const { kernel } = openKernel();
const NOTHING = new Uint8Array(0);

describe.skipIf(!kernel)('the loop of a relay thread', () => {
  if (!kernel) return;

  test.each([
    ['each dearer than a round may be, one by one', 3, [1, 1, 1, 1, 1]],
    ['that take half a millisecond, four at a time', 0.5, [4, 1]],
    ['that take next to nothing, all at once', 0.1, [5]],
  ])('has handshakes take turns with all others by the time that they take: those %s', (_, costMs, turns) => {
    const openSsl = openOpenSsl();
    const own = selfSigned();
    const authority = makeContext(
      { kernel, openSsl },
      { role: 'client', authorities: [own.cert] },
      DEFAULT_CIPHERS,
    );
    let now = 0;
    const perRound = [0];
    const begun = new Set<number>();
    const dear = {
      ...openSsl,
      handshake: (connection: number) => {
        // What makes the signature is its first step.
        if (!begun.has(connection)) {
          begun.add(connection);
          now += costMs;
          perRound.push((perRound.pop() ?? 0) + 1);
        }
        return openSsl.handshake(connection);
      },
    };
    const ticketKeys = new Uint8Array(TICKET_KEY_BYTES);
    const commands: ThreadCommand[] = [
      {
        type: 'add-context',
        context: 1,
        spec: { role: 'server', ...own, groups: LISTENER_GROUPS, ticketKeys },
        ciphers: DEFAULT_CIPHERS,
      },
    ];
    const clients: TlsEnd[] = [];
    const plain: number[] = [];
    for (let id = 1; id <= 5; id += 1) {
      const [descriptor, far] = kernel.makeSocketPair() ?? [-1, -1];
      const [inside, nodes] = kernel.makeSocketPair() ?? [-1, -1];
      plain.push(inside, nodes);
      const host = { name: '127.0.0.1', isAddress: true };
      const common = { calls: { kernel, openSsl }, head: NOTHING };
      const client = new TlsEnd({ ...common, context: authority, role: 'client', descriptor: far, host });
      client.handshake();
      clients.push(client);
      commands.push({
        type: 'secure',
        id,
        role: 'server',
        descriptor,
        plain: inside,
        context: 1,
        head: NOTHING,
      });
    }
    const mail = new Mail();
    mail.note();
    const waker = kernel.makeWaker();
    let isStopped = false;
    runRelayLoop({
      kernel,
      openSsl: dear,
      whyNoTls: undefined,
      waker,
      mail,
      nextCommand: () => {
        const next = commands.shift();
        if (next) return next;
        // It is asked once in each round.
        mail.note();
        perRound.push(0);
        if (begun.size >= clients.length && !isStopped) {
          isStopped = true;
          return { type: 'stop' };
        }
        return undefined;
      },
      report: () => undefined,
      nowMs: () => now,
      compactHeap: () => undefined,
    });
    expect(perRound.filter((count) => count > 0)).toEqual(turns);
    for (const client of clients) client.close();
    for (const descriptor of [...plain, waker]) kernel.close(descriptor);
    openSsl.freeContext(authority);
  });
});
