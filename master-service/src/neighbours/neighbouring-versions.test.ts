import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  decodeTicket,
  directorySchema,
  encodeBase64url,
  parseRelayTarget,
  planAnswerSchema,
  verifyTicket,
} from '@longhaul/shared';
import { generateKeyPair, openStateFolder, verifierFor } from '@longhaul/shared/service';
import { expect, type TestContext, test } from 'vitest';
import { InProcessBus, type InProcessMeeting } from '../bus/in-process-bus.ts';
import { FileDepotStore } from '../depots/depot-store.ts';
import { FactsFile } from '../facts/facts-file.ts';
import { startMaster, type TestMaster } from '../testing/start-master.ts';
import { registerDepots, TestDepot } from '../testing/test-depot.ts';

/**
 * What the last release has said and written, by a master called `rj` with three depots: a new release keeps
 * these files, and adds its own folder beside this one.
 */
const LAST_RELEASE = join(import.meta.dirname, '0.1.0');

interface Told {
  readonly facts: readonly { kind: string; key: string; source: string; value: unknown }[];
}

const textOf = (file: string) => readFileSync(join(LAST_RELEASE, file), 'utf8');
const read = (file: string): unknown => JSON.parse(textOf(file));
const tellings = () => read('tellings.json') as Told[];
const answer = () => read('answer.json') as Told[];

type OnTestFinished = TestContext['onTestFinished'];

async function start(
  onTestFinished: OnTestFinished,
  init: Parameters<typeof startMaster>[0],
): Promise<TestMaster> {
  const master = await startMaster(init);
  onTestFinished(() => master.master.close());
  return master;
}

async function statesAt({ url }: TestMaster): Promise<string[]> {
  const { depots } = (await (await fetch(`${url}/v1/status`)).json()) as {
    depots: { id: string; state: string }[];
  };
  return depots.map(({ id, state }) => `${id} ${state}`);
}

async function chainAt({ url }: TestMaster): Promise<unknown> {
  const body = JSON.stringify({ url: 'https://origin.example/other.iso', sizeBytes: 1e9 });
  const plan = await (await fetch(`${url}/v1/plans`, { method: 'POST', body })).json();
  return planAnswerSchema.parse(plan).chain;
}

const refusalsOf = ({ events }: TestMaster) => events.filter(({ type }) => type === 'facts-refused');

/** The same with something in every object of it that only a newer version says. */
function newer(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(newer);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, newer(field)] as const);
  return { ...Object.fromEntries(fields), newerField: { why: ['nobody here knows'] } };
}

test('a master takes what one of the last release tells, and plans with it', async ({ onTestFinished }) => {
  const meeting: InProcessMeeting = new Set();
  const master = await start(onTestFinished, { bus: new InProcessBus('two', meeting) });
  const old = new InProcessBus('rj', meeting);
  for (const telling of tellings()) old.publish(JSON.stringify(telling));
  await expect.poll(() => statesAt(master)).toEqual(['d1 up', 'd2 up', 'd3 up']);
  // What clients have said there counts here: d2 has failed one of this network.
  expect(await chainAt(master)).toEqual(['d1']);
  expect(refusalsOf(master)).toEqual([]);
});

test('a master that joins late takes all that one of the last release answers', async ({
  onTestFinished,
}) => {
  const meeting: InProcessMeeting = new Set();
  new InProcessBus('rj', meeting).answer(() => answer().map((part) => JSON.stringify(part)));
  const master = await start(onTestFinished, { bus: new InProcessBus('two', meeting) });
  await expect.poll(() => statesAt(master)).toEqual(['d1 up', 'd2 up', 'd3 up']);
  expect(refusalsOf(master)).toEqual([]);
});

test('fields that only a newer master knows survive being passed on, in every kind of fact', async ({
  onTestFinished,
}) => {
  const meeting: InProcessMeeting = new Set();
  const told = answer().map((part) => ({
    ...part,
    facts: part.facts.map((fact) => ({ ...fact, value: newer(fact.value) })),
  }));
  const newerMaster = new InProcessBus('rj', meeting);
  newerMaster.answer(() => told.map((part) => JSON.stringify(newer(part))));
  const master = await start(onTestFinished, { bus: new InProcessBus('two', meeting) });
  await expect.poll(() => statesAt(master)).toHaveLength(3);
  await newerMaster.close();
  const third = new InProcessBus('three', meeting);
  const passedOn = new Map<string, unknown>();
  const asked = await third.request(JSON.stringify({ type: 'ask', have: [] }), (text) => {
    for (const { kind, key, source, value } of (JSON.parse(text) as Told).facts) {
      if (source === 'rj') passedOn.set(`${kind} ${key}`, value);
    }
  });
  expect(asked.ok).toBe(true);
  const expected = told.flatMap(({ facts }) => facts);
  expect(new Set(expected.map(({ kind }) => kind)).size).toBeGreaterThan(10);
  for (const { kind, key, value } of expected) expect(passedOn.get(`${kind} ${key}`), kind).toEqual(value);
  expect(refusalsOf(master)).toEqual([]);
});

test.each([
  ['the last release', (text: string) => text],
  [
    'a newer release',
    (text: string) =>
      `${text
        .trim()
        .split('\n')
        .map((line) => JSON.stringify(newer(JSON.parse(line))))
        .join('\n')}\n`,
  ],
])('a master starts with the state folder of %s', async (_, rewrite) => {
  const dir = mkdtempSync(join(tmpdir(), 'longhaul-release-'));
  const state = openStateFolder(dir);
  try {
    await state.save('facts.jsonl', rewrite(textOf('facts.jsonl')));
    await state.save('depots.json', rewrite(JSON.stringify(read('depots.json'))));
    const master = await startMaster({
      depotStore: new FileDepotStore(state),
      factsFile: new FactsFile(state),
    });
    expect(await statesAt(master)).toEqual(['d1 up', 'd2 up', 'd3 up']);
    expect(refusalsOf(master)).toEqual([]);
    await master.master.close();
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test.each([
  ['the last release', (value: object) => value],
  ['a newer release', (value: object) => newer(value) as object],
])('a master takes the registration and the heartbeats of a depot of %s', async (_, rewrite) => {
  const master = await startMaster();
  await registerDepots(master, 'd2', 'd3');
  const depot = new TestDepot('d1');
  const { publicKey } = depot;
  const registration = { ...(read('registration.json') as object), publicKey };
  const registered = await depot.register(master, rewrite(registration));
  expect([registered.status, registered.text]).toEqual([200, expect.stringContaining('"up"')]);
  const beat = await depot.heartbeat(master, rewrite(read('heartbeat.json') as object));
  expect([beat.status, beat.text]).toEqual([200, expect.stringContaining('"up"')]);
  const ticket = ticketOf(await planOf(master));
  const url = 'https://mirror.origin.example/file.iso';
  const followUp = await depot.post(master, '/v1/depots/d1/follow-ups', rewrite({ ticket, url }));
  expect([followUp.status, followUp.text]).toEqual([200, expect.stringContaining('"ticket"')]);
  await master.master.close();
});

async function planOf({ url }: TestMaster): Promise<{ location: string }> {
  const body = JSON.stringify({ url: 'https://origin.example/file.iso', sizeBytes: 1e9 });
  return (await (await fetch(`${url}/v1/plans`, { method: 'POST', body })).json()) as { location: string };
}

function ticketOf({ location }: { readonly location: string }): string {
  const { pathname, search } = new URL(location);
  const relay = parseRelayTarget(pathname + search);
  return relay.ok ? relay.value.ticket : '';
}

test('a depot, and an add-on, take the directory and the plan of the last release, and of a newer one', () => {
  const directory = read('directory.json');
  const plan = read('plan.json');
  expect(directorySchema.parse(directory)).toEqual(directory);
  expect(directorySchema.parse(newer(directory))).toEqual(directory);
  expect(planAnswerSchema.parse(newer(plan))).toEqual(planAnswerSchema.parse(plan));
});

test('a depot takes a ticket of the last release, and of a newer one that says more', () => {
  const ticket = ticketOf(read('plan.json') as { location: string });
  const { keys } = read('jwks.json') as { keys: { kid: string; x: string }[] };
  const decoded = decodeTicket(ticket);
  if (!decoded.ok) throw decoded.error;
  const key = keys.find(({ kid }) => kid === decoded.value.keyId);
  const claims = verifyTicket(decoded.value, verifierFor(key?.x ?? ''));
  expect(claims).toMatchObject({
    ok: true,
    value: { kind: 'get', chains: [['d1', 'd2'], expect.anything()] },
  });

  const [header = '', payload = ''] = ticket.split('.');
  const json = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString()) as object;
  const more = [
    { ...json(header), zip: 'no' },
    { ...json(payload), z: 'newer' },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const { sign, verify } = generateKeyPair();
  const newerTicket = decodeTicket(`${more.join('.')}.${encodeBase64url(sign(more.join('.')))}`);
  if (!newerTicket.ok) throw newerTicket.error;
  expect(verifyTicket(newerTicket.value, verify)).toEqual(claims);
});
