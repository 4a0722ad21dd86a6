import { createSecureContext } from 'node:tls';
import type { HeartbeatRequest } from '@longhaul/shared';
import { generateKeyPair } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDial } from '../sockets/dial.ts';
import { startTestMaster, type TestMaster } from '../testing/test-master.ts';
import { MasterClient } from './master-client.ts';
import { Membership } from './membership.ts';

let master: TestMaster;
let membership: Membership;

beforeEach(async () => {
  master = await startTestMaster();
  const key = generateKeyPair();
  membership = new Membership({
    client: new MasterClient({
      masterUrl: master.url,
      identity: {
        id: 'd1',
        publicKey: key.publicKey,
        sign: (text) => Buffer.from(key.sign(text)).toString('base64url'),
      },
      enrolmentSecret: master.secret,
      dial: createDial({
        resolve: async (host) => [host],
        policy: { ports: [], allow: [] },
        isOverlayAddress: () => true,
        connectTimeoutMs: 2000,
      }),
      trust: createSecureContext(),
      nowMs: Date.now,
    }),
    self: () => ({ host: '127.0.0.1', port: 7001, tls: false }),
    heartbeatMs: 3_600_000,
    activeTransfers: () => 0,
    takeLinkReports: () => [],
    onDirectory: async () => {},
    onFailure: (failure) => {
      throw failure;
    },
    nowMs: Date.now,
  });
});
afterEach(async () => {
  membership.stop();
  await master.close();
});

const heartbeats = () =>
  master.requests
    .filter(({ path }) => path.endsWith('/heartbeat'))
    .map(({ body }) => body as HeartbeatRequest);

/** Makes the master keep its next answer to `path` back; gives what lets it go, once the request is there. */
function holdAnswer(path: string): Promise<() => void> {
  return new Promise((arrived) => {
    master.beforeAnswer = async (asked) => {
      if (!asked.endsWith(path)) return;
      master.beforeAnswer = async () => {};
      await new Promise<void>((release) => arrived(release));
    };
  });
}

describe('a drain', () => {
  test('is told to the master, also when a heartbeat from before is still on its way', async () => {
    await membership.start();
    const held = holdAnswer('/heartbeat');
    const earlier = membership.beat();
    const release = await held;
    const told = membership.drain();
    release();
    await Promise.all([earlier, told]);
    expect(heartbeats().at(-1)).toMatchObject({ draining: true });
  });

  test('is told by a depot that was about to register', async () => {
    const held = holdAnswer('/v1/depots');
    const started = membership.start();
    const release = await held;
    const told = membership.drain();
    release();
    await told;
    expect(heartbeats().at(-1)).toMatchObject({ draining: true });
    await started;
  });

  test('is not taken back by later heartbeats', async () => {
    await membership.start();
    await membership.drain();
    await membership.beat();
    expect(heartbeats().map(({ draining }) => draining)).toEqual([false, true, true]);
  });
});

describe('a size', () => {
  test('is reported once, and only when it is that of a file', async () => {
    await membership.start();
    const sizes: readonly [string, number][] = [
      ['none', 0],
      ['some', 1],
      ['much', 9e15],
    ];
    for (const [urlHash, sizeBytes] of sizes) membership.noteSize(urlHash, sizeBytes);
    await membership.beat();
    await membership.beat();
    expect(heartbeats().map((beat) => beat.sizes)).toEqual([[], [{ urlHash: 'some', sizeBytes: 1 }], []]);
  });
});
