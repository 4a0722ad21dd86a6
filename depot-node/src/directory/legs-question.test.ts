import {
  encodeBase64url,
  formatLegsTarget,
  isLegsTarget,
  legsText,
  type NeighbourLeg,
} from '@longhaul/shared';
import { FailedChecks, generateKeyPair } from '@longhaul/shared/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchRaw } from '../testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from '../testing/overlay.ts';
import { readLegsQuestion } from './legs-question.ts';

const NOW = 1_795_000_000_000;
const key = generateKeyPair();
const masterKey = (keyId: string) => (keyId === 'k' ? key.verify : undefined);
const nowMs = () => NOW;
const failedChecks = new FailedChecks({ isOwn: () => false, nowMs });
const read = (target: string, from = '192.0.2.1') =>
  readLegsQuestion(target, from, { ownId: 'd1', masterKey, failedChecks, nowMs });
const signed = ({ to = 'd1', jobId = 'job-1', timeMs = NOW, keyId = 'k', by = key } = {}) => {
  const signature = encodeBase64url(by.sign(legsText(to, { jobId, timeMs })));
  return formatLegsTarget({ jobId, timeMs, keyId, signature });
};

describe('a question for legs', () => {
  test('of a master names the job', () => {
    expect(isLegsTarget(signed())).toBe(true);
    expect(read(signed())).toEqual({ ok: true, value: 'job-1' });
  });

  test.each([
    ['of somebody else', signed({ by: generateKeyPair() })],
    ['under a key that is not known', signed({ keyId: 'other' })],
    ['for another depot', signed({ to: 'd3' })],
    ['of a minute ago and more', signed({ timeMs: NOW - 60_001 })],
    ['for another job than the signed one', signed().replace('job-1', 'job-2')],
    ['that is none', '/.well-known/longhaul-legs?job=job-1'],
  ])('%s is refused', (_, target) => {
    expect(read(target)).toMatchObject({ ok: false, error: { code: 'bad-request' } });
  });

  test('is not looked at where too many were forged', () => {
    const forged = signed({ by: generateKeyPair() });
    const codes = Array.from({ length: 400 }, () => {
      const asked = read(forged, '198.51.100.7');
      return asked.ok ? 'ok' : asked.error.code;
    });
    expect(codes.filter((code) => code === 'bad-request')).toHaveLength(300);
    expect(codes.at(-1)).toBe('signature-checks-spent');
    expect(read(signed(), '198.51.100.77')).toEqual({ ok: true, value: 'job-1' });
  });
});

describe('a depot', () => {
  let overlay: TestOverlay;
  let finish: () => void = () => {};
  beforeAll(async () => {
    overlay = await startTestOverlay(['d1', 'd2'], (_, response) => {
      response.write('x'.repeat(100_000));
      finish = () => response.end();
    });
  });
  afterAll(() => overlay.close());
  const ask = async (depot: string, jobId: string) => {
    const question = overlay.master.legsQuestion(depot, jobId, overlay.nowSeconds() * 1000);
    const { status, body } = await fetchRaw(overlay.depot(depot).url + formatLegsTarget(question));
    expect(status).toBe(200);
    return JSON.parse(String(body)) as { id: string; legs: NeighbourLeg[] };
  };
  const peers = async (depot: string, jobId: string) =>
    (await ask(depot, jobId)).legs.map(({ peer }) => peer).toSorted();

  test('tells a master which connections a running job has, and nothing of it once it has ended', async () => {
    const url = overlay.relayUrl(`${overlay.originUrl}/file`, { jobId: 'watched' });
    const response = await fetch(url);
    const reader = response.body?.getReader();
    await reader?.read();
    // Depots look once a second.
    await expect.poll(() => peers('d1', 'watched'), { timeout: 15_000 }).toEqual(['client', 'd2']);
    await expect.poll(() => peers('d2', 'watched'), { timeout: 15_000 }).toEqual(['d1', 'origin']);
    expect((await ask('d1', 'another')).legs).toEqual([]);
    finish();
    while (!(await reader?.read())?.done);
    await expect.poll(() => peers('d1', 'watched')).toEqual([]);
    // A tunnel to the origin may be kept for the next request of the job.
    await expect.poll(() => peers('d2', 'watched'), { timeout: 15_000 }).toEqual([]);
  });
});
