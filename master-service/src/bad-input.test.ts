import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  decodeTicket,
  directorySchema,
  LonghaulError,
  parseRelayTarget,
  planAnswerSchema,
} from '@longhaul/shared';
import { generateKeyPair, openStateFolder, type StateFolder } from '@longhaul/shared/service';
import { afterEach, describe, expect, test } from 'vitest';
import { InProcessBus, type InProcessMeeting } from './bus/in-process-bus.ts';
import { NatsBus } from './bus/nats-bus.ts';
import type { StateBus } from './bus/state-bus.ts';
import { FileDepotStore } from './depots/depot-store.ts';
import { keyStart } from './enrolment/enrolment-facts.ts';
import { FileEnrolmentStore } from './enrolment/enrolment-store.ts';
import { FactsFile } from './facts/facts-file.ts';
import { pretendNatsServer } from './testing/pretend-nats-server.ts';
import { startMaster, TestClock, type TestMaster } from './testing/start-master.ts';
import { hasNatsServer, startNatsServer } from './testing/start-nats-server.ts';
import { registerDepots, TestDepot } from './testing/test-depot.ts';
import { createToken } from './testing/test-operator.ts';

const PATIENCE = { timeout: 30_000, interval: 20 };
const TEST_MS = 90_000;

type MasterInit = NonNullable<Parameters<typeof startMaster>[0]>;

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

/** Where masters meet, and somebody who speaks as no master would. */
interface Meeting {
  readonly start: (name: string, init?: MasterInit) => Promise<TestMaster>;
  readonly join: (name: string) => Promise<StateBus>;
}

async function start(init: MasterInit): Promise<TestMaster> {
  const master = await startMaster(init);
  open.push(() => master.master.close());
  return master;
}

async function meetInProcess(): Promise<Meeting> {
  const meeting: InProcessMeeting = new Set();
  return {
    start: (name, init = {}) => start({ ...init, bus: new InProcessBus(name, meeting) }),
    join: async (name) => new InProcessBus(name, meeting),
  };
}

async function meetOverNats(): Promise<Meeting> {
  const server = await startNatsServer();
  open.push(() => server.close());
  const access = { servers: [server.url] };
  return {
    start: async (name, init = {}) => {
      const config = { ...init.config, bus: { site: name, servers: [server.url] } };
      const master = await start({ ...init, config });
      await expect
        .poll(() => master.events.some(({ type }) => type === 'bus-connected'), PATIENCE)
        .toBe(true);
      return master;
    },
    join: async (name) => {
      const bus = new NatsBus({ site: name, access, onConnected: () => {}, onFailed: () => {} });
      open.push(() => bus.close());
      bus.start();
      await expect.poll(() => bus.status().isConnected, PATIENCE).toBe(true);
      return bus;
    },
  };
}

const refusedBy = ({ events }: TestMaster) =>
  events.flatMap((event) => (event.type === 'facts-refused' ? [`${event.code} of ${event.from}`] : []));

const failedAt = ({ events }: TestMaster) =>
  events.flatMap((event) =>
    event.type === 'failed' && event.error instanceof LonghaulError ? [event.error.code] : [],
  );

/** Where a client is led that asks for a file of which nobody has heard. */
async function originAt({ url }: TestMaster): Promise<string> {
  const target = `${url}/get/https/origin.example/${Math.random()}.iso`;
  const answer = await fetch(target, { redirect: 'manual' });
  expect(answer.status).toBe(307);
  return new URL(answer.headers.get('location') ?? '').origin;
}

async function planAt({ url }: TestMaster) {
  const body = JSON.stringify({ url: 'https://origin.example/file.iso', sizeBytes: 1e9 });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/plans`, { method: 'POST', body, headers });
  return planAnswerSchema.parse(await answer.json());
}

async function chainAt(master: TestMaster): Promise<readonly string[]> {
  return (await planAt(master)).chain;
}

/** When the ticket of a download was given, Unix seconds. */
async function issuedAt(master: TestMaster): Promise<number | undefined> {
  const { pathname, search } = new URL((await planAt(master)).location);
  const relay = parseRelayTarget(pathname + search);
  const decoded = relay.ok ? decodeTicket(relay.value.ticket) : undefined;
  return decoded?.ok === true ? decoded.value.claims.issuedAt : undefined;
}

/** What a depot is told: who there is, where, with which keys, and the masters. */
async function directoryAt(master: TestMaster, depot: TestDepot) {
  const { depots, masterKeys, masterUrls, self } = directorySchema.parse(
    JSON.parse((await depot.heartbeat(master)).text),
  );
  return { depots, masterKeys, masterUrls, self };
}

/** A master with two depots, and what it tells one of them. */
async function startKnowing({ start: startAt }: Meeting) {
  const one = await startAt('one');
  const depots = await registerDepots(one, 'd1', 'd2');
  const [d1, d2] = depots as [TestDepot, TestDepot];
  return { one, d1, d2, before: await directoryAt(one, d1) };
}

let sequence = 0;

/** A fact as it is told. */
function fact(kind: string, key: string, value: object, more: object = {}): object {
  sequence += 1;
  return { kind, key, source: 'two', epoch: 1, sequence, ageMs: 0, value, ...more };
}

function telling(facts: readonly object[], more: object = {}): string {
  const head = { type: 'learned', source: 'two', epoch: 1, sentMs: 0, after: 0, upTo: sequence };
  return JSON.stringify({ ...head, facts, ...more });
}

const stranger = { publicKey: generateKeyPair().publicKey, host: '127.0.0.1', port: 6666, tls: false };
const heard = { process: 'another', heartbeat: 1e6, draining: true, upSeconds: 0, failures: 0 };

const LIES: readonly (readonly [what: string, texts: () => string[], refused: readonly string[]])[] = [
  ['is no message', () => ['nonsense', '{"type":"learned"}', '[]'], ['fact-malformed of two']],
  [
    'is told in the name of a third one, or of this one',
    () => [
      telling([fact('depot-registered', 'd1', stranger)], { source: 'three' }),
      telling([fact('depot-registered', 'd1', stranger, { source: 'one' })], { source: 'one', epoch: 1e15 }),
      telling([fact('depot-registered', 'd1', stranger, { source: 'three' })]),
    ],
    ['fact-not-its-own of two'],
  ],
  [
    'has no sense in it',
    () => [
      telling([fact('depot-registered', 'd1', { ...stranger, port: 'none' })]),
      telling([fact('depot-heard', '../d1', heard), fact('master-here', 'two', { url: 7 })]),
      telling([fact('depot-heard', 'd1', heard, { ageMs: -7_200_000 })]),
    ],
    ['fact-malformed of two'],
  ],
  [
    'claims a depot that another key belongs to',
    () => [
      telling([
        fact('depot-owned', 'd1', { publicKey: stranger.publicKey }),
        fact('depot-registered', 'd1', stranger),
        fact('depot-proved', 'd1', { ...stranger, addresses: ['127.0.0.1'] }),
        fact('depot-heard', 'd1', { ...heard, keyStart: keyStart(stranger.publicKey) }),
        fact('depot-twins', 'd1', { heartbeats: 9, keyStart: keyStart(stranger.publicKey) }),
        fact('depot-down', 'd1', { process: 'another', keyStart: keyStart(stranger.publicKey) }),
      ]),
    ],
    ['depot-key-mismatch of two'],
  ],
  [
    'claims it since long ago',
    () => [telling([fact('depot-owned', 'd1', { publicKey: stranger.publicKey }, { ageMs: 1e12 })])],
    ['depot-key-mismatch of two'],
  ],
  [
    'is another master’s key by the id of this one',
    () => [
      telling([
        fact('master-here', 'one', { url: 'https://liar.example', keys: [] }),
        fact('master-here', 'elsewhere', { url: 'https://liar.example', keys: [] }),
        fact('spent', 'x', {}),
      ]),
    ],
    [],
  ],
];

const MEETINGS: readonly (readonly [kind: string, meet: () => Promise<Meeting>])[] = [
  ['in process', meetInProcess],
  ...(hasNatsServer ? [['over NATS', meetOverNats] as const] : []),
];

describe.each(MEETINGS)('masters that meet %s', (_kind, meet) => {
  test.each(LIES)(
    'go on with what they knew when what is told %s',
    async (_what, texts, refused) => {
      const meeting = await meet();
      const { one, d1, before } = await startKnowing(meeting);
      const two = await meeting.join('two');
      for (const text of texts()) two.publish(text);
      // Behind all that: whoever takes it in has taken in what was before it.
      const honest = { publicKey: generateKeyPair().publicKey, host: '127.0.0.1', port: 7009, tls: false };
      two.publish(
        telling([
          fact('depot-owned', 'd9', { publicKey: honest.publicKey }),
          fact('depot-registered', 'd9', honest),
        ]),
      );
      const known = async () => (await (await fetch(`${one.url}/v1/status`)).text()).includes('"d9"');
      await expect.poll(known, PATIENCE).toBe(true);
      expect(await directoryAt(one, d1)).toEqual(before);
      expect(await chainAt(one)).toEqual(['d1', 'd2']);
      expect([...new Set(refusedBy(one))]).toEqual(expect.arrayContaining([...refused]));
    },
    TEST_MS,
  );

  test(
    'know the newest when what is told comes again, and in another order',
    async () => {
      const meeting = await meet();
      const { one, d2 } = await startKnowing(meeting);
      const two = await meeting.join('two');
      const at = (port: number, more: object = {}) =>
        fact('depot-registered', 'd3', { ...stranger, port }, more);
      const texts = [at(7001), at(7002), at(7003)].map((each) => telling([each]));
      const order = [2, 0, 1, 2, 1, 0, 0];
      for (const index of order) two.publish(texts[index] ?? '');
      two.publish(
        telling([
          fact('depot-proved', 'd3', { ...stranger, port: 7003, addresses: ['127.0.0.1'] }),
          fact('depot-heard', 'd3', { ...heard, draining: false }),
        ]),
      );
      const d3 = async () => (await directoryAt(one, d2)).depots.find(({ id }) => id === 'd3');
      await expect.poll(d3, PATIENCE).toMatchObject({ port: 7003, state: 'up' });
      expect(refusedBy(one)).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'begin with nothing but nonsense from the others, lead clients to their origins, and know the truth once somebody tells it',
    async () => {
      const meeting = await meet();
      const liar = await meeting.join('liar');
      liar.answer(() => [
        'nonsense',
        '{"type":"held","facts":"none"}',
        JSON.stringify({ type: 'held', facts: [{}, fact('depot-heard', 'd1', {})], have: [] }),
      ]);
      await liar.request('is my subscription there?', () => {});
      const one = await meeting.start('one');
      await expect.poll(() => refusedBy(one), PATIENCE).toContain('fact-malformed of liar');
      expect(await originAt(one)).toBe('https://origin.example');
      const two = await meeting.start('two', { clock: one.clock });
      await registerDepots(two, 'd1', 'd2');
      await expect.poll(() => chainAt(one), PATIENCE).toEqual(['d1', 'd2']);
    },
    TEST_MS,
  );

  test(
    'whose clocks are hours apart know of a depot how long ago it was heard',
    async () => {
      const meeting = await meet();
      const [early, late] = [new TestClock(), new TestClock()];
      late.advance(5 * 3600);
      const one = await meeting.start('one', { clock: early });
      const two = await meeting.start('two', { clock: late });
      const [d1] = await registerDepots(one, 'd1');
      await registerDepots(two, 'd2');
      for (const master of [one, two])
        await expect.poll(() => chainAt(master), PATIENCE).toEqual(['d1', 'd2']);
      for (const clock of [early, late]) clock.advance(14);
      for (const master of [one, two]) expect(await chainAt(master)).toEqual(['d1', 'd2']);
      await d1?.heartbeat(one);
      for (const clock of [early, late]) clock.advance(2);
      for (const master of [one, two]) await expect.poll(() => chainAt(master), PATIENCE).not.toContain('d2');
      await expect
        .poll(async () => (await d1?.heartbeat(two, {}, { timeMs: early.nowMs }))?.code, PATIENCE)
        .toBe('depot-signature-wrong');
      expect([...refusedBy(one), ...refusedBy(two)]).toEqual([]);
    },
    TEST_MS,
  );

  test.each([
    ['ahead', 4 * 3_600_000],
    ['back', -4 * 3_600_000],
  ])(
    'of which one has its clock set hours %s, and rightly, lose no depot by it',
    async (_where, byMs) => {
      const meeting = await meet();
      const clock = new TestClock();
      let steadyMs = 0;
      const one = await meeting.start('one', { clock, steadyMs: () => steadyMs });
      const two = await meeting.start('two', { clock: new TestClock() });
      const [d1] = await registerDepots(one, 'd1');
      await registerDepots(two, 'd2');
      for (const master of [one, two])
        await expect.poll(() => chainAt(master), PATIENCE).toEqual(['d1', 'd2']);
      clock.nowMs += byMs;
      await expect.poll(() => one.events.some(({ type }) => type === 'clock-doubted'), PATIENCE).toBe(true);
      clock.nowMs += 4000;
      steadyMs += 4000;
      expect((await d1?.heartbeat(one))?.status, 'its depot agrees').toBe(200);
      await expect.poll(() => one.events.some(({ type }) => type === 'clock-set'), PATIENCE).toBe(true);
      for (const master of [one, two]) expect(await chainAt(master)).toEqual(['d1', 'd2']);
      await registerDepots(one, 'd3');
      const known = async () => (await (await fetch(`${two.url}/v1/status`)).text()).includes('"d3"');
      await expect.poll(known, PATIENCE).toBe(true);
    },
    TEST_MS,
  );

  test.each([
    ['ahead', 4 * 3_600_000],
    ['back', -4 * 3_600_000],
  ])(
    'of which one has its clock set hours %s, and wrongly, issue tickets by the time that its depots have',
    async (_where, byMs) => {
      const meeting = await meet();
      const clock = new TestClock();
      const { nowMs } = clock;
      const one = await meeting.start('one', { clock, steadyMs: () => 0 });
      const [d1] = await registerDepots(one, 'd1', 'd2');
      clock.nowMs += byMs;
      await expect.poll(() => one.events.some(({ type }) => type === 'clock-doubted'), PATIENCE).toBe(true);
      expect((await d1?.heartbeat(one, {}, { timeMs: nowMs }))?.status).toBe(200);
      expect(await chainAt(one)).toEqual(['d1', 'd2']);
      expect(await issuedAt(one)).toBe(Math.floor(nowMs / 1000));
    },
    TEST_MS,
  );
});

/** A folder of state on a disk that may be full. */
function onDisk(path: string): { readonly state: StateFolder; isFull: boolean } {
  const real = openStateFolder(path);
  const disk = {
    isFull: false,
    state: {
      ...real,
      save: (name: string, text: string) => disk.state.saveParts(name, [text]),
      saveParts: (name: string, parts: Iterable<string>) =>
        disk.isFull
          ? Promise.reject(new LonghaulError('state-unusable', { detail: 'no space left on device' }))
          : real.saveParts(name, parts),
    },
  };
  return disk;
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'longhaul-bad-'));
  open.push(() => rm(path, { recursive: true }));
  return path;
}

function stored(state: StateFolder): MasterInit {
  return {
    depotStore: new FileDepotStore(state),
    enrolmentStore: new FileEnrolmentStore(state),
    factsFile: new FactsFile(state),
    keyFolder: state,
  };
}

async function contentOf(path: string): Promise<string[]> {
  const names = (await readdir(path)).toSorted();
  return Promise.all(names.map(async (name) => `${name}: ${await readFile(join(path, name), 'utf8')}`));
}

test('a master whose disk is full goes on, says so, leaves what is on disk as it is, and writes all down once there is room', async () => {
  const path = await folder();
  const disk = onDisk(path);
  const clock = new TestClock();
  const one = await startMaster({ ...stored(disk.state), clock });
  const [d1] = await registerDepots(one, 'd1', 'd2');
  // None that is being written.
  const filesThere = async () => (await readdir(path)).map((name) => name.endsWith('.tmp'));
  await expect.poll(filesThere).toEqual([false, false, false]);
  const before = await contentOf(path);
  disk.isFull = true;
  const d3 = new TestDepot('d3');
  expect((await d3.register(one)).status).toBe(200);
  await expect.poll(() => failedAt(one)).toContain('state-unusable');
  await expect(createToken(one)).rejects.toThrow('state-unusable');
  expect((await d1?.heartbeat(one))?.status).toBe(200);
  expect(await chainAt(one)).toEqual(['d1', 'd2']);
  expect(await contentOf(path)).toEqual(before);
  disk.isFull = false;
  // Its proof is due again.
  clock.advance(300);
  await d3.heartbeat(one);
  await expect.poll(() => readFile(join(path, 'depots.json'), 'utf8')).toContain(d3.publicKey);
  disk.isFull = true;
  const last = await contentOf(path);
  await one.master.close();
  expect(await contentOf(path)).toEqual(last);
  const again = await start({ ...stored(openStateFolder(path)), clock });
  const { depots } = await directoryAt(again, d1 as TestDepot);
  expect(depots.map(({ id }) => id)).toEqual(['d1', 'd2', 'd3']);
});

test('a snapshot that is damaged is counted, and the others have what was in it', async () => {
  const path = await folder();
  const meeting = await meetInProcess();
  const clock = new TestClock();
  const init = () => ({ factsFile: new FactsFile(openStateFolder(path)), clock });
  const before = await startMaster({ ...init(), bus: await meeting.join('one') });
  const two = await meeting.start('two', { clock });
  await registerDepots(before, 'd1', 'd2');
  await expect.poll(() => chainAt(two), PATIENCE).toEqual(['d1', 'd2']);
  await before.master.close();
  const text = await readFile(join(path, 'facts.jsonl'), 'utf8');
  await writeFile(join(path, 'facts.jsonl'), text.slice(10));
  // By a clock that was ahead, its earlier epoch would come after all that it says now.
  clock.advance(-5);
  const again = await meeting.start('one', init());
  expect(refusedBy(again)).toEqual(['fact-malformed of file']);
  await expect.poll(() => chainAt(again), PATIENCE).toEqual(['d1', 'd2']);
  await registerDepots(again, 'd3');
  const known = async () => (await (await fetch(`${two.url}/v1/status`)).text()).includes('"d3"');
  await expect.poll(known, PATIENCE).toBe(true);
});

describe('a master that knows nothing leads clients to the origin, and says why, when its NATS server', () => {
  const INFO = 'INFO {"server_id":"x","version":"2.12.0","max_payload":1048576,"headers":true,"proto":1}\r\n';
  const speaksNonsense = (socket: Socket) => {
    socket.write(INFO);
    socket.on('data', () => socket.write('MSG nonsense \0 with no end\r\n\r\n-----'));
  };

  test.each<[string, (socket: Socket) => void]>([
    ['hangs up', (socket) => socket.destroy()],
    ['speaks nonsense', speaksNonsense],
    ['lets nobody in', (socket) => socket.end(`${INFO}-ERR 'Authorization Violation'\r\n`)],
    ['says nothing', () => {}],
  ])(
    '%s',
    async (_what, greet) => {
      const server = await pretendNatsServer(greet);
      open.push(server.close);
      const one = await start({ config: { bus: { site: 'one', servers: [server.url] } } });
      expect(await originAt(one)).toBe('https://origin.example');
      const codes = () => one.events.flatMap((event) => (event.type === 'bus-failed' ? [event.code] : []));
      await expect.poll(codes, PATIENCE).not.toEqual([]);
      expect(await originAt(one)).toBe('https://origin.example');
      for (const code of codes()) expect(['bus-unreachable', 'bus-refused']).toContain(code);
    },
    TEST_MS,
  );
});
