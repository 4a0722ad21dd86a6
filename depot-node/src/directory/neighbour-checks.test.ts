import type { HeartbeatRequest } from '@longhaul/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fetchRaw } from '../testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from '../testing/overlay.ts';

let overlay: TestOverlay;
let release: () => void;

beforeEach(async () => {
  overlay = await startTestOverlay(['d1', 'd2'], (_, response) => {
    response.write('x'.repeat(1_000_000));
    release = () => response.end();
  });
});
afterEach(() => overlay.close());

/** Heartbeats that named depots that were not reached. */
const words = () =>
  overlay.master.requests.flatMap(({ path, body }) => {
    const { unreached } = body as HeartbeatRequest;
    return unreached ? [{ from: path.split('/')[3], unreached }] : [];
  });

test('the master is told at once of a neighbour that is gone, by the depot whose connections broke', async () => {
  const response = await fetch(overlay.relayUrl(`${overlay.originUrl}/file`));
  const reader = response.body?.getReader();
  await reader?.read();
  // The next heartbeat of its own is an hour away.
  await overlay.depot('d2').depot.close(0);
  await expect.poll(words).toContainEqual({ from: 'd1', unreached: ['d2'] });
  await reader?.cancel().catch(() => {});
});

test('nothing is told of a neighbour whose connections only end with their downloads', async () => {
  const asked = fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file`));
  await expect.poll(() => overlay.originRequests.length).toBe(1);
  release();
  await asked;
  const left = new AbortController();
  const response = await fetch(overlay.relayUrl(`${overlay.originUrl}/file`), { signal: left.signal });
  await response.body?.getReader().read();
  left.abort();
  await expect
    .poll(() => overlay.depot('d2').events.filter(({ type }) => type === 'tunnel').length)
    .toBeGreaterThan(1);
  await overlay.depot('d2').depot.close(0);
  await expect.poll(words).not.toEqual([]);
  expect(words().filter(({ unreached }) => unreached.includes('d1'))).toEqual([]);
});
