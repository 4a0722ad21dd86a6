import { readFileSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { formatGetPath, parseOriginUrl } from '@longhaul/shared';
import { expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../fixtures/run-program.ts';
import { startOrigin } from '../overlay/origin-server.ts';
import { startOverlay } from '../overlay/overlay.ts';
import { onLoopback } from '../overlay/placement.ts';
import { sampleBytes } from '../overlay/sample-bytes.ts';
import { testFolder } from './service-config.ts';

const HOST = '127.0.0.1';
const FILE = sampleBytes(3_000_000, 12);
/** Nobody is missed for it within a test. */
const HEARTBEAT_SECONDS = 60;

test('curl -C - goes on through another depot as soon as its own is dead, long before a heartbeat is missed', async () => {
  const dir = testFolder(onTestFinished);
  let isHeldBack = true;
  const origin = await startOrigin({
    listenHost: HOST,
    content: () => (asked, answer) => sendFile(asked.headers.range, answer, () => isHeldBack),
  });
  onTestFinished(() => origin.close());
  const link = (between: [string, string], rttMs: number, lossRate = 0) => ({
    between,
    rttMs,
    lossRate,
    rateBps: 1e9,
  });
  const overlay = await startOverlay({
    dir,
    depots: [{ id: 'd1' }, { id: 'd2' }],
    links: [
      link(['client', 'origin'], 200, 0.01),
      link(['client', 'd1'], 1),
      link(['client', 'd2'], 20),
      link(['d1', 'd2'], 5),
      link(['d1', 'origin'], 5),
      link(['d2', 'origin'], 5),
    ],
    placement: onLoopback(HOST),
    origins: [`${HOST}:${origin.port}`],
    originNetwork: '127.0.0.0/8',
    originPorts: [origin.port],
    masterConfig: { depots: { heartbeatSeconds: HEARTBEAT_SECONDS } },
  });
  onTestFinished(() => overlay.stop());
  const url = parseOriginUrl(`http://${HOST}:${origin.port}/file.bin`);
  if (!url.ok) throw url.error;
  const address = overlay.master.url + formatGetPath(url.value);
  const curl = () => runProgram('curl', ['-sS', '-L', '-O', '-C', '-', address], dir);
  const file = join(dir, 'file.bin');
  const states = async () => {
    const status = (await (await fetch(`${overlay.master.url}/v1/status`)).json()) as {
      depots: { id: string; state: string }[];
    };
    return Object.fromEntries(status.depots.map(({ id, state }) => [id, state]));
  };

  const first = curl();
  await expect.poll(() => statSync(file, { throwIfNoEntry: false })?.size ?? 0).toBeGreaterThan(500_000);
  await overlay.depot('d1').kill();
  expect((await first).code).not.toBe(0);
  isHeldBack = false;
  await expect.poll(states).toEqual({ d1: 'lost', d2: 'up' });
  expect(await curl()).toEqual({ code: 0, output: '' });
  expect(readFileSync(file).equals(FILE)).toBe(true);
  await overlay.restartDepot('d1');
  expect(await states()).toEqual({ d1: 'up', d2: 'up' });
}, 60_000);

/** The file from the byte that was asked for; half of it while the rest is held back. */
function sendFile(range: string | undefined, answer: ServerResponse, isHeldBack: () => boolean): void {
  const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
  answer.writeHead(range === undefined ? 200 : 206, {
    ETag: '"v1"',
    'Accept-Ranges': 'bytes',
    'Content-Length': FILE.length - start,
    ...(range === undefined ? {} : { 'Content-Range': `bytes ${start}-${FILE.length - 1}/${FILE.length}` }),
  });
  if (isHeldBack()) answer.write(FILE.subarray(start, FILE.length / 2));
  else answer.end(FILE.subarray(start));
}
