import { heartbeatRequestSchema } from '@longhaul/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTestOverlay, type TestOverlay } from '../testing/overlay.ts';

let overlay: TestOverlay;
beforeEach(async () => {
  overlay = await startTestOverlay(['d1'], (_, response) => response.end(), undefined, {
    config: { measuring: { bytesPerHour: 1_000_000 } },
  });
});
afterEach(() => overlay.close());

/** Has the depot heard now, by a master that asks for a probe. */
function order(url: string): void {
  const { hostname, port } = new URL(url);
  overlay.master.originProbe = { host: hostname, port: Number(port) };
  const material = { enrolmentSecret: overlay.master.secret, trustedAuthorities: [], tls: undefined };
  overlay.depot('d1').depot.renew(material);
}

const probes = () => overlay.depot('d1').events.filter(({ type }) => type === 'origin-probed');

const reported = () =>
  overlay.master.requests
    .filter(({ path }) => path.endsWith('/heartbeat'))
    .flatMap(({ body }) => heartbeatRequestSchema.parse(body).origins ?? []);

test('a depot that is told to probe an origin connects once, asks for nothing, and tells at once how far it is', async () => {
  order(overlay.originUrl);
  await expect
    .poll(reported)
    .toEqual([{ host: '127.0.0.1', prefix: '127.0.0.0/24', rttMs: expect.any(Number) as number }]);
  expect(overlay.originConnections()).toBe(1);
  expect(overlay.originRequests).toEqual([]);
  await expect.poll(overlay.originOpenConnections).toBe(0);
});

test('a depot probes nothing that a download may not have, nor the same origin again and again', async () => {
  order(overlay.master.url);
  await expect.poll(probes).toEqual([{ type: 'origin-probed', isReached: false }]);
  expect(reported()).toEqual([]);
  // The same host, of which the answer would be the same.
  order(overlay.originUrl);
  await expect.poll(() => overlay.master.originProbe).toBeUndefined();
  overlay.advanceSeconds(700);
  order(overlay.originUrl);
  await expect.poll(probes).toHaveLength(2);
  expect(overlay.originConnections()).toBe(1);
});
