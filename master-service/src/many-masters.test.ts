import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { directorySchema, HEADERS, parseRelayTarget, planAnswerSchema } from '@longhaul/shared';
import { openStateFolder } from '@longhaul/shared/service';
import { afterEach, expect, test } from 'vitest';
import { InProcessBus, type InProcessMeeting } from './bus/in-process-bus.ts';
import { FileDepotStore } from './depots/depot-store.ts';
import { FileEnrolmentStore } from './enrolment/enrolment-store.ts';
import { FactsFile } from './facts/facts-file.ts';
import { generateSigningKey } from './keys/signing-key.ts';
import { startMaster, TestClock, type TestMaster } from './testing/start-master.ts';
import { registerDepots, TestDepot } from './testing/test-depot.ts';
import { askOperatorsMaster, createToken, tokenState } from './testing/test-operator.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function start(init: Parameters<typeof startMaster>[0]): Promise<TestMaster> {
  const master = await startMaster(init);
  open.push(() => master.master.close());
  return master;
}

/** How many plans a client gets that asks a master for so many files. */
async function plansFor(master: TestMaster, files: number): Promise<number> {
  let given = 0;
  for (let index = 0; index < files; index += 1) {
    const url = `${master.url}/get/https/other.example/${Math.random()}.iso`;
    const { status, headers } = await fetch(url, { redirect: 'manual' });
    expect(status).toBe(307);
    // Whose share is used up is led to the origin.
    if (!headers.has(HEADERS.error)) given += 1;
  }
  return given;
}

async function plan(master: TestMaster) {
  const body = JSON.stringify({ url: 'https://origin.example/file.iso', sizeBytes: 1e9 });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${master.url}/v1/plans`, { method: 'POST', body, headers });
  return planAnswerSchema.parse(await answer.json());
}

/** The ticket of a plan, as the entry depot gets it. */
function ticketOf({ location }: Awaited<ReturnType<typeof plan>>): string {
  const relay = parseRelayTarget(new URL(location).pathname + new URL(location).search);
  return relay.ok ? relay.value.ticket : '';
}

test('masters that meet plan with the depots of all, and depots know the keys and addresses of all', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const one = await start({ bus: new InProcessBus('one', meeting), clock });
  const two = await start({ bus: new InProcessBus('two', meeting), clock });
  await registerDepots(one, 'd1');
  const [d2] = await registerDepots(two, 'd2');
  for (const master of [one, two])
    await expect.poll(async () => (await plan(master)).chain).toEqual(['d1', 'd2']);
  const { masterKeys, masterUrls, depots } = directorySchema.parse(
    JSON.parse((await (d2 as TestDepot).heartbeat(two)).text),
  );
  expect(masterKeys.map(({ keyId }) => keyId)).toEqual([two.signingKey.keyId, one.signingKey.keyId]);
  expect(masterUrls).toEqual([two.url, one.url]);
  expect(depots.map(({ id, state }) => `${id} ${state}`)).toEqual(['d1 up', 'd2 up']);
});

test('a ticket of one master is as good at the others, and a depot is heard by whichever it tells', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const one = await start({ bus: new InProcessBus('one', meeting), clock });
  const two = await start({ bus: new InProcessBus('two', meeting), clock });
  const [d1] = (await registerDepots(one, 'd1', 'd2')) as [TestDepot];
  await expect.poll(async () => (await plan(two)).chain).toEqual(['d1', 'd2']);
  const ticket = ticketOf(await plan(one));
  const legs = await fetch(`${two.url}/v1/legs`, {
    method: 'POST',
    body: JSON.stringify({ ticket }),
    headers: { 'content-type': 'application/json' },
  });
  expect(legs.status).toBe(200);
  const { jobId } = (await legs.json()) as { jobId: string };
  const followUp = await d1.followUp(two, ticket, 'https://mirror.example/file.iso');
  expect(followUp.status).toBe(200);
  const { ticket: next } = JSON.parse(followUp.text) as { ticket: string };
  const again = await d1.followUp(one, next, 'https://mirror.example/file.iso');
  expect(again.status).toBe(200);
  expect(jobId).toBe((await plan(one)).jobId);

  // A depot that has registered with one of them is known to the other, under the same key, without doing so again.
  expect((await d1.heartbeat(two)).status).toBe(200);
});

test('a ticket of nobody is known to none of them, also when a master tells a key by the id of another one', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const one = await start({ bus: new InProcessBus('one', meeting), clock });
  await registerDepots(one, 'd1', 'd2');
  const ticket = ticketOf(await plan(one));
  const liar = generateSigningKey();
  const lie = {
    url: 'https://liar.example',
    keys: [{ keyId: one.signingKey.keyId, publicKey: liar.publicKey }],
  };
  const bus = new InProcessBus('a-liar', meeting);
  const fact = {
    kind: 'master-here',
    key: 'a-liar',
    source: 'a-liar',
    epoch: 1,
    sequence: 1,
    ageMs: 0,
    value: lie,
  };
  bus.publish(
    JSON.stringify({
      type: 'learned',
      source: 'a-liar',
      epoch: 1,
      sentMs: 0,
      after: 0,
      upTo: 1,
      facts: [fact],
    }),
  );
  const two = await start({ bus: new InProcessBus('two', meeting), clock });
  const ask = (body: string) =>
    fetch(`${two.url}/v1/legs`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  await expect.poll(async () => (await ask(JSON.stringify({ ticket }))).status).toBe(200);
  const published = await (await fetch(`${two.url}/.well-known/jwks.json`)).text();
  expect(published).toContain(one.signingKey.publicKey);
  expect(published).not.toContain(liar.publicKey);
  const stranger = await start({ clock });
  await registerDepots(stranger, 'd1', 'd2');
  const foreign = ticketOf(await plan(stranger));
  expect((await ask(JSON.stringify({ ticket: foreign }))).status).toBe(403);
});

test('what a client may have is the same at all masters, and one that is alone keeps its own limit', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const config = { public: { plansPerMinute: 10, bytesPerHour: 1e12 } };
  const join = (name: string) => start({ bus: new InProcessBus(name, meeting), clock, config });
  const [one, two] = [await join('one'), await join('two')];
  let given = await plansFor(one, 15);
  expect(given).toBe(10);
  // What one gives before it has heard counts, too.
  const askedOf = async (master: TestMaster) => {
    const more = await plansFor(master, 1);
    given += more;
    return more;
  };
  await expect.poll(() => askedOf(two)).toBe(0);
  // Who ends tells all that it gave: who comes late hears of each plan before the minute passes.
  await two.master.close();
  const late = await join('late');
  await expect.poll(() => askedOf(late)).toBe(0);
  clock.advance(60);
  expect(await plansFor(late, 20)).toBe(20 - given);
  const alone = await start({ clock, config });
  expect(await plansFor(alone, 15)).toBe(10);
});

test.each([-2, 2])('a master whose clock is set by %i hours refuses no client for that', async (hours) => {
  const clock = new TestClock();
  let steadyMs = 0;
  const config = { public: { plansPerMinute: 10, bytesPerHour: 1e12 } };
  const master = await start({ clock, steadyMs: () => steadyMs, config });
  const pass = (ms: number) => {
    clock.nowMs += ms;
    steadyMs += ms;
  };
  expect(await plansFor(master, 12)).toBe(10);
  clock.nowMs += hours * 3_600_000;
  expect(await plansFor(master, 1), 'nothing has drained').toBe(0);
  // No depot speaks: then the machine's own clock counts after a while.
  pass(31_000);
  await plansFor(master, 1);
  expect(master.events.map(({ type }) => type)).toContain('clock-set');
  for (let minute = 0; minute < 3; minute += 1) {
    pass(60_000);
    expect(await plansFor(master, 12)).toBe(10);
  }
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

test('a token of one master is taken by another one, once; a stolen key is nobody’s at all of them, whichever the operator tells', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const one = await start({ bus: new InProcessBus('one', meeting), clock });
  const two = await start({ bus: new InProcessBus('two', meeting), clock });
  const token = await createToken(one);
  const [d1, d2] = [new TestDepot('d1'), new TestDepot('d2')];
  await expect.poll(async () => (await d2.join(two, token)).status).toBe(200);
  await expect.poll(() => tokenState(one, token)).toBe('used');
  expect((await d1.join(one, token)).code).toBe('join-token-used');
  await expect.poll(async () => (await d2.registerJoined(one)).status).toBe(200);
  await d1.register(two);
  await expect.poll(async () => (await plan(one)).chain).toEqual(['d1', 'd2']);
  const before = ticketOf(await plan(two));
  await askOperatorsMaster(two, { do: 'revoke-depot', depot: 'd2' });
  expect((await plan(two)).chain).not.toContain('d2');
  await expect.poll(async () => (await plan(one)).chain).not.toContain('d2');
  for (const master of [one, two]) {
    expect((await d2.heartbeat(master)).code).toBe('depot-unknown');
    expect((await d2.registerJoined(master)).code).toBe('depot-key-revoked');
    expect((await d2.followUp(master, before, 'https://mirror.example/f')).code).toBe('depot-unknown');
    const { depots, revokedKeys } = directorySchema.parse(JSON.parse((await d1.heartbeat(master)).text));
    expect([depots.map(({ id }) => id), revokedKeys]).toEqual([['d1'], [d2.publicKey]]);
  }
});

test('a token that two masters took from two depots, while they could not hear each other, makes neither of them one', async () => {
  const clock = new TestClock();
  const meeting: InProcessMeeting = new Set();
  const folder = await mkdtemp(join(tmpdir(), 'longhaul-cut-'));
  open.push(() => rm(folder, { recursive: true }));
  const store = () => new FileEnrolmentStore(openStateFolder(folder));
  const before = await startMaster({
    bus: new InProcessBus('before', new Set()),
    enrolmentStore: store(),
    clock,
  });
  const token = await createToken(before);
  await before.master.close();
  const other = await mkdtemp(join(tmpdir(), 'longhaul-cut-'));
  open.push(() => rm(other, { recursive: true }));
  await cp(folder, other, { recursive: true });
  // Both know the token, and nothing of each other.
  const cut = await startMaster({ bus: new InProcessBus('cut', new Set()), enrolmentStore: store(), clock });
  const [d1, thief] = [new TestDepot('d1'), new TestDepot('d9')];
  const one = await start({
    bus: new InProcessBus('one', meeting),
    enrolmentStore: new FileEnrolmentStore(openStateFolder(other)),
    clock,
  });
  expect((await d1.join(one, token)).status).toBe(200);
  expect((await thief.join(cut, token)).status).toBe(200);
  await cut.master.close();
  const healed = await start({ bus: new InProcessBus('cut', meeting), enrolmentStore: store(), clock });
  for (const master of [one, healed]) {
    for (const depot of [d1, thief]) {
      await expect.poll(async () => (await depot.registerJoined(master)).code).toBe('depot-key-revoked');
    }
  }
});

/** A folder of its own for a master, and what it keeps there. */
async function keptFolder() {
  const dir = await mkdtemp(join(tmpdir(), 'longhaul-master-'));
  open.push(() => rm(dir, { recursive: true }));
  const state = openStateFolder(dir);
  return () => ({ depotStore: new FileDepotStore(state), factsFile: new FactsFile(state) });
}

/** Ids of the keys that a master says tickets are signed with. */
async function keysOf({ url }: TestMaster): Promise<string[]> {
  const answer = await fetch(`${url}/.well-known/jwks.json`);
  const { keys } = (await answer.json()) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
}

const DAY_SECONDS = 86_400;

test('a master that starts again while it hears no other tells its depots of all that there are, so that no ticket is refused', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const kept = await keptFolder();
  const one = await startMaster({ ...kept(), bus: new InProcessBus('one', meeting), clock });
  const two = await start({ bus: new InProcessBus('two', meeting), clock });
  const [d1] = (await registerDepots(one, 'd1')) as [TestDepot];
  await expect.poll(() => keysOf(one)).toHaveLength(2);
  await one.master.close();
  const again = await start({ ...kept(), bus: new InProcessBus('one', new Set()), clock });
  const told = directorySchema.parse(JSON.parse((await d1.heartbeat(again)).text));
  expect(told.masterKeys.map(({ keyId }) => keyId)).toEqual([again.signingKey.keyId, two.signingKey.keyId]);
  expect(told.masterUrls).toEqual([again.url, two.url]);
});

test('a master that is gone is known as long as its tickets live, however often the others start again, and those that are there stay known', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const kept = await keptFolder();
  const join = (name: string, init = {}) =>
    startMaster({ ...init, bus: new InProcessBus(name, meeting), clock });
  let one = await join('one', kept());
  const two = await join('two');
  open.push(() => two.master.close());
  const gone = await join('three');
  await expect.poll(() => keysOf(one)).toHaveLength(3);
  await gone.master.close();
  const learnedFrom = (master: TestMaster) => master.signingKey.keyId;
  for (let day = 0; day < 8; day += 1) {
    // So long that each says again that it is there.
    clock.advance(DAY_SECONDS);
    await one.master.close();
    one = await join('one', kept());
    await expect.poll(() => keysOf(two)).toContain(learnedFrom(one));
    await expect.poll(() => keysOf(one)).toContain(learnedFrom(gone));
  }
  clock.advance(3_700);
  for (const master of [one, two]) {
    await expect
      .poll(async () => (await keysOf(master)).toSorted())
      .toEqual([learnedFrom(one), learnedFrom(two)].toSorted());
  }
  await one.master.close();
  const [late, other] = [await join('one', kept()), await join('late')];
  for (const master of [late, other]) {
    open.push(() => master.master.close());
    expect(await keysOf(master)).not.toContain(learnedFrom(gone));
  }
});

test('a stolen key of a master that is gone counts no more as soon as another one has started in its place', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const one = await start({ bus: new InProcessBus('one', meeting), clock });
  const gone = await startMaster({ bus: new InProcessBus('two', meeting), clock });
  await expect.poll(() => keysOf(one)).toContain(gone.signingKey.keyId);
  await gone.master.close();
  clock.advance(1);
  const placeholder = await startMaster({ bus: new InProcessBus('two', meeting), clock });
  await expect.poll(() => keysOf(one)).toEqual([one.signingKey.keyId, placeholder.signingKey.keyId]);
  await placeholder.master.close();
  expect(await keysOf(one)).not.toContain(gone.signingKey.keyId);
});

test('a master that was alone before it met others is told of once, by the name that it has now', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const kept = await keptFolder();
  const signingKey = generateSigningKey();
  const alone = await startMaster({ ...kept(), signingKey, clock });
  await alone.master.close();
  clock.advance(1);
  const one = await start({ ...kept(), signingKey, bus: new InProcessBus('one', meeting), clock });
  const two = await start({ bus: new InProcessBus('two', meeting), clock });
  await expect.poll(() => keysOf(one)).toEqual([signingKey.keyId, two.signingKey.keyId]);
  expect(await keysOf(two)).toEqual([two.signingKey.keyId, signingKey.keyId]);
});
