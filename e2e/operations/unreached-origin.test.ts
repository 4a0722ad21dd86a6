import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatGetPath, type PlanAnswer, parseOriginUrl } from '@longhaul/shared';
import { expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../fixtures/run-program.ts';
import { startOrigin } from '../overlay/origin-server.ts';
import { startOverlay } from '../overlay/overlay.ts';
import { onLoopback } from '../overlay/placement.ts';
import { sampleBytes } from '../overlay/sample-bytes.ts';
import { testFolder } from './service-config.ts';

const HOST = '127.0.0.1';
/** It has no address of IPv4 for the depot that has IPv6 alone. */
const ORIGIN = 'origin.test';
const FILE = sampleBytes(3_000_000, 13);

test('a depot that has no way to an origin is not planned as exit for it again, and stays one for others', async () => {
  const dir = testFolder(onTestFinished);
  const origin = await startOrigin({
    listenHost: HOST,
    content: () => ({ body: FILE, headers: { 'Cache-Control': 'public, max-age=600' } }),
  });
  onTestFinished(() => origin.close());
  const { port } = origin;
  const link = (between: [string, string], rttMs: number, lossRate = 0) => ({
    between,
    rttMs,
    lossRate,
    rateBps: 1e9,
  });
  const overlay = await startOverlay({
    dir,
    depots: [
      { id: 'd1' },
      {
        id: 'd2',
        config: {
          names: { [ORIGIN]: ['::1'], 'other.test': [HOST] },
          addresses: {
            allow: ['127.0.0.0/8', '::1/128'].map((network) => ({ network, ports: [port] })),
            overlayNetworks: [`${HOST}/32`],
          },
        },
      },
      { id: 'd3' },
    ],
    // Over d2 it is shortest.
    links: [
      link(['client', 'origin'], 200, 0.01),
      link(['client', 'd1'], 1),
      link(['client', 'd2'], 300, 0.01),
      link(['client', 'd3'], 300, 0.01),
      link(['d1', 'd2'], 60),
      link(['d1', 'd3'], 90),
      link(['d2', 'd3'], 60),
      link(['d1', 'origin'], 300, 0.01),
      link(['d2', 'origin'], 1),
      link(['d3', 'origin'], 1),
    ],
    placement: onLoopback(HOST),
    names: { [ORIGIN]: [HOST], 'other.test': [HOST] },
    origins: [`${ORIGIN}:${port}`, `other.test:${port}`],
    originNetwork: '127.0.0.0/8',
    originPorts: [port],
    masterConfig: { planner: { explore: { share: 0 } } },
  });
  onTestFinished(() => overlay.stop());
  const plan = async (host: string) => {
    const body = JSON.stringify({ url: `http://${host}:${port}/file.bin`, sizeBytes: FILE.length });
    const answer = await fetch(`${overlay.master.url}/v1/plans`, { method: 'POST', body });
    return (await answer.json()) as PlanAnswer;
  };
  const url = parseOriginUrl(`http://${ORIGIN}:${port}/file.bin`);
  if (!url.ok) throw url.error;
  const address = overlay.master.url + formatGetPath(url.value);
  const download = () => runProgram('curl', ['-sS', '-f', '-L', '-O', address], dir);

  expect((await plan('other.test')).chain).toEqual(['d1', 'd2']);
  expect(await download()).toEqual({ code: 0, output: '' });
  expect(readFileSync(join(dir, 'file.bin')).equals(FILE)).toBe(true);
  await expect.poll(async () => (await plan(ORIGIN)).chain.at(-1)).toBe('d3');
  expect((await plan(ORIGIN)).reasons).toContainEqual(
    'Left out as exit depot: d2, which could not connect to the origin of late.',
  );
  expect((await plan('other.test')).chain).toEqual(['d1', 'd2']);
}, 60_000);
