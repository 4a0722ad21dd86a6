import { HEADERS } from '@longhaul/shared';
import { afterEach, expect, test } from 'vitest';
import { fetchRaw } from '../testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from '../testing/overlay.ts';

const FILE = Buffer.alloc(3_000_000);
/** Client networks on loopback. */
const [HERE, THERE] = ['127.0.1.7', '127.0.2.7'] as const;

let overlay: TestOverlay;
afterEach(() => overlay.close());

const start = async (stepwise: object) => {
  overlay = await startTestOverlay(['d1', 'd2'], (_, response) => response.end(FILE), undefined, {
    config: { stepwise },
  });
};
const begin = async (localAddress: string, claims: object = {}) => {
  const url = overlay.relayUrl(`${overlay.originUrl}/file`, { kind: 'stepwise', ...claims }, 'd2');
  const { status, headers } = await fetchRaw(url, { localAddress });
  return headers[HEADERS.error] ?? status;
};

test('a client network that has transfers begun, and comes for none, leaves places to others', async () => {
  await start({ waiting: 8, waitSeconds: 3600 });
  const begun: unknown[] = [];
  for (let count = 0; count < 6; count += 1) begun.push(await begin(HERE));
  expect(begun).toEqual([302, 302, 302, 302, 'client-busy', 'client-busy']);
  expect(await begin(THERE)).toBe(302);
  await expect.poll(() => overlay.originConnections()).toBe(5);
});

test("what an origin sends to a transfer that nobody comes for is of its ticket's bytes", async () => {
  await start({ waiting: 8, waitSeconds: 0.3 });
  const claims = { jobId: 'one', budgetBytes: 500_000 };
  const answers: unknown[] = [];
  for (let count = 0; count < 4; count += 1) {
    answers.push(await begin(HERE, claims));
    await expect
      .poll(() => overlay.depot('d2').events.filter(({ type }) => type === 'handover').length)
      .toBe(Math.min(3, count + 1));
  }
  expect(answers).toEqual([302, 302, 302, 'budget-used-up']);
  expect(overlay.originConnections()).toBe(3);
});
