import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { directorySchema, planAnswerSchema } from '@longhaul/shared';
import { openStateFolder } from '@longhaul/shared/service';
import { afterEach, expect, test } from 'vitest';
import { InProcessBus, type InProcessMeeting } from './bus/in-process-bus.ts';
import { FileDepotStore } from './depots/depot-store.ts';
import { FactsFile } from './facts/facts-file.ts';
import { startMaster, TestClock, type TestMaster } from './testing/start-master.ts';
import { registerDepots, type TestDepot } from './testing/test-depot.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function start(init: Parameters<typeof startMaster>[0]): Promise<TestMaster> {
  const master = await startMaster(init);
  open.push(() => master.master.close());
  return master;
}

async function plan(master: TestMaster) {
  const body = JSON.stringify({ url: 'https://origin.example/file.iso', sizeBytes: 1e9 });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${master.url}/v1/plans`, { method: 'POST', body, headers });
  return planAnswerSchema.parse(await answer.json());
}

test('masters that meet plan with the depots of all, and depots know the keys and addresses of all', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const one = await start({ bus: new InProcessBus('one', meeting), clock });
  const two = await start({ bus: new InProcessBus('two', meeting), clock });
  await registerDepots(one, 'd1');
  const [d2] = await registerDepots(two, 'd2');
  await expect.poll(async () => (await plan(two)).chain).toEqual(['d1', 'd2']);
  expect((await plan(one)).chain).toEqual(['d1', 'd2']);
  const { masterKeys, masterUrls, depots } = directorySchema.parse(
    JSON.parse((await (d2 as TestDepot).heartbeat(two)).text),
  );
  expect(masterKeys.map(({ keyId }) => keyId)).toEqual([two.signingKey.keyId, one.signingKey.keyId]);
  expect(masterUrls).toEqual([two.url, one.url]);
  expect(depots.map(({ id, state }) => `${id} ${state}`)).toEqual(['d1 up', 'd2 up']);
});

test('a master that starts again counts on the depots that were just heard, and knows its links', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'longhaul-master-'));
  open.push(() => rm(dir, { recursive: true }));
  const state = openStateFolder(dir);
  const clock = new TestClock();
  const init = () => ({ depotStore: new FileDepotStore(state), factsFile: new FactsFile(state), clock });
  const before = await startMaster(init());
  const [d1] = await registerDepots(before, 'd1', 'd2');
  await d1?.heartbeat(before, { links: [{ to: 'd2', rttMs: 123, goodputBps: 5e8 }] });
  await before.master.close();
  clock.advance(5);
  const after = await start(init());
  const { chain, prediction } = await plan(after);
  expect(chain).toEqual(['d1', 'd2']);
  expect(prediction.legs[1]).toMatchObject({ rttMs: 123, rttSource: 'measured', measuredAgeMs: 5000 });
  clock.advance(15);
  expect((await plan(after)).decision).toBe('direct');
});
