import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatGetPath, parseOriginUrl } from '@longhaul/shared';
import { describe, type TestContext, test } from 'vitest';
import { startOrigin } from '../overlay/origin-server.ts';
import { startOverlay } from '../overlay/overlay.ts';
import { onLoopback } from '../overlay/placement.ts';
import { testFolder } from './service-config.ts';
import { processesWith } from './session-processes.ts';

const PART = Buffer.alloc(100_000, 'a');
const HOST = '127.0.0.1';

/** A download of two parts over one depot; the origin holds the second part back. */
async function halfADownload({ onTestFinished, expect }: TestContext) {
  const dir = testFolder(onTestFinished);
  const answers: ServerResponse[] = [];
  const origin = await startOrigin({
    listenHost: HOST,
    content: () => (_, response) => {
      answers.push(response);
      response.writeHead(200, { 'Content-Length': 2 * PART.length }).write(PART);
    },
  });
  onTestFinished(() => origin.close());
  const overlay = await startOverlay({
    dir,
    depots: [{ id: 'd1' }],
    links: [
      { between: ['client', 'origin'], rttMs: 200, lossRate: 0.01, rateBps: 1e9 },
      { between: ['client', 'd1'], rttMs: 1, lossRate: 0, rateBps: 1e9 },
      { between: ['d1', 'origin'], rttMs: 1, lossRate: 0, rateBps: 1e9 },
    ],
    placement: onLoopback(HOST),
    origins: [`${HOST}:${origin.port}`],
    originNetwork: '127.0.0.0/8',
    originPorts: [origin.port],
  });
  onTestFinished(() => overlay.stop());
  const url = parseOriginUrl(`http://${HOST}:${origin.port}/file`);
  if (!url.ok) throw url.error;
  const answer = await fetch(overlay.master.url + formatGetPath(url.value));
  expect(answer.url).toContain(overlay.depot('d1').url);
  const body = answer.arrayBuffer().then(
    (bytes) => bytes.byteLength,
    (failure: Error) => failure.message,
  );
  return {
    depot: overlay.depot('d1'),
    body,
    finish: () => answers.at(-1)?.end(PART),
    left: () => processesWith(join(dir, 'd1.yaml')),
    said: () => readFileSync(join(dir, 'd1.log'), 'utf8'),
  };
}

describe('a depot with a running download', () => {
  test('lets it end after a SIGTERM, and takes nothing new meanwhile', async (context) => {
    const { expect } = context;
    const { depot, body, finish, left, said } = await halfADownload(context);
    process.kill(depot.pid, 'SIGTERM');
    await expect.poll(said).toContain('"msg":"ends: SIGTERM"');
    await expect(fetch(`${depot.url}/healthz`)).rejects.toThrow('fetch failed');
    finish();
    expect(await body).toBe(2 * PART.length);
    await expect.poll(left, { timeout: 10_000 }).toEqual([]);
  });

  test('breaks it off, visibly, when SIGTERM comes again', async (context) => {
    const { expect } = context;
    const { depot, body, left, said } = await halfADownload(context);
    const ended = body.then(() => 'ended');
    const insist = async (): Promise<void> => {
      process.kill(depot.pid, 'SIGTERM');
      if ((await Promise.race([ended, delay(100)])) !== 'ended') await insist();
    };
    await insist();
    expect(await body).toBe('terminated');
    await expect.poll(left, { timeout: 10_000 }).toEqual([]);
    expect(said()).toMatch(
      /"withinSeconds":30,"msg":"ends: SIGTERM".*\n.*"withinSeconds":0,"msg":"ends: SIGTERM"/,
    );
  });

  test('gives it a second after SIGINT', async (context) => {
    const { expect } = context;
    const { depot, body, left } = await halfADownload(context);
    process.kill(depot.pid, 'SIGINT');
    expect(await body).toBe('terminated');
    await expect.poll(left, { timeout: 10_000 }).toEqual([]);
  });
});
