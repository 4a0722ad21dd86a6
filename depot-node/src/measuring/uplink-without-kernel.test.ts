import { heartbeatRequestSchema } from '@longhaul/shared';
import { afterEach, expect, test, vi } from 'vitest';
import { startTestOverlay, type TestOverlay } from '../testing/overlay.ts';

// As where there is no koffi, or no Linux: what the sockets carry nobody can ask.
vi.mock('../kernel/open-kernel.ts', async (importOriginal) => {
  const { openKernel } = await importOriginal<typeof import('../kernel/open-kernel.ts')>();
  return { openKernel: () => openKernel('win32') };
});

const BODY = Buffer.alloc(5_000_000);

let overlay: TestOverlay | undefined;
afterEach(() => overlay?.close());

test('a depot that cannot ask its kernel tells of its uplink what it has relayed', async () => {
  const started = await startTestOverlay(['d1', 'd2'], (_, response) => response.end(BODY), undefined, {
    config: { uplink: { rateBps: 100e6 } },
  });
  overlay = started;
  const { master } = started;
  // The heartbeat that tells of it may be one of the depot's own: a download has ended.
  const mostSentBps = (id: string) =>
    Math.max(
      ...master.requests
        .filter(({ path }) => path === `/v1/depots/${id}/heartbeat`)
        .map(({ body }) => heartbeatRequestSchema.parse(body).uplink?.sentBps ?? 0),
    );
  const answer = await fetch(started.relayUrl(`${started.originUrl}/file`));
  expect((await answer.arrayBuffer()).byteLength).toBe(BODY.length);
  // Rates over less than half a second are not made.
  started.advanceSeconds(10);
  for (const id of ['d1', 'd2']) {
    started.depot(id).depot.renew({ enrolmentSecret: master.secret, trustedAuthorities: [], tls: undefined });
    await expect.poll(() => mostSentBps(id)).toBeGreaterThan(1e6);
  }
});
