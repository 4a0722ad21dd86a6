import { createServer, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listen } from './sockets/listener.ts';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

describe.each(await testPlanes())('an exit depot, over %s,', (_plane, splice) => {
  let overlay: TestOverlay;
  let held: ServerResponse[];
  let origin: ReturnType<typeof createServer>;
  let port: number;

  beforeEach(async () => {
    held = [];
    origin = createServer((_, response) => {
      response.writeHead(200, { 'Content-Length': 10 }).write('first');
      held.push(response);
    });
    ({ port } = await listen(origin, '127.0.0.1', 0));
    const addresses = { allow: [{ network: '127.0.0.0/8', ports: [port] }] };
    overlay = await startTestOverlay([], () => {}, splice);
    for (const id of ['d2', 'd1']) await overlay.addDepot(id, { addresses });
  });
  afterEach(async () => {
    origin.closeAllConnections();
    await overlay.close();
    await splice?.close();
  });

  const download = () => {
    const url = `http://127.0.0.1:${port}/file`;
    return fetchRaw(overlay.relayUrl(url, { chains: [['d1', 'd2']] }, 'd1'));
  };
  const heartbeats = () => overlay.master.requests.filter(({ path }) => path === '/v1/depots/d2/heartbeat');
  /** What the exit depot has told of origins. */
  const told = () =>
    heartbeats().flatMap(({ body }) => (body as { originsTried?: object[] }).originsTried ?? []);

  test('tells of no origin that it cannot be reached while a download from there runs, whoever moves its bytes', async () => {
    const running = download();
    await expect.poll(() => held.length).toBe(1);
    // So that it takes no more.
    origin.close();
    overlay.advanceSeconds(90);
    expect((await download()).status).toBe(307);
    const before = heartbeats().length;
    await expect.poll(() => heartbeats().length).toBeGreaterThan(before);
    expect(told()).toEqual([]);
    held[0]?.end('later');
    expect((await running).body.toString()).toBe('firstlater');
    origin.closeAllConnections();
    await expect.poll(() => overlay.depot('d2').events.some(({ type }) => type === 'tunnel')).toBe(true);
    overlay.advanceSeconds(90);
    await download();
    await expect.poll(told).toContainEqual({ host: '127.0.0.1', port, isReached: false });
  });
});
