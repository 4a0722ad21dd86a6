import { ERRORS, type ErrorCode, type HeartbeatRequest, type ToldEntryGroup } from '@longhaul/shared';
import { generateKeyPair } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDial } from '../sockets/dial.ts';
import { Trust } from '../sockets/trust.ts';
import { startTestMaster, type TestMaster } from '../testing/test-master.ts';
import { MasterClient } from './master-client.ts';
import { proofOf } from './masters-proof.ts';
import { Membership, type MembershipState } from './membership.ts';

/** No heartbeat comes by itself while a test runs. */
const HEARTBEAT_MS = 3_600_000;

let master: TestMaster;
let membership: Membership;
let nowMs: number;
let steadyMs: number;
let failures: ErrorCode[];
let states: MembershipState[];
/** How often it was said that what was not reached is doubtful, and that a master is there again. */
let told: { doubts: number; backs: number };
let keepDirectory: () => Promise<void>;
let isKeyRotated: boolean;
let entryGroup: ToldEntryGroup | undefined;

beforeEach(async () => {
  master = await startTestMaster();
  nowMs = 1_795_000_000_000;
  steadyMs = 0;
  failures = [];
  states = [];
  told = { doubts: 0, backs: 0 };
  keepDirectory = async () => {};
  isKeyRotated = false;
  entryGroup = undefined;
  membership = memberWith(master.secret);
});
afterEach(async () => {
  membership.stop();
  await master.close();
});

function memberWith(enrolmentSecret: string): Membership {
  const key = generateKeyPair();
  const sign = (text: string) => Buffer.from(key.sign(text)).toString('base64url');
  return new Membership({
    client: new MasterClient({
      masterUrl: master.url,
      identity: { id: 'd1', publicKey: key.publicKey, sign, agree: () => undefined },
      proof: proofOf(enrolmentSecret, { read: () => undefined }),
      dial: createDial({
        resolve: async (host) => [host],
        policy: { ports: [], allow: [] },
        isOverlayAddress: () => true,
        connectTimeoutMs: 2000,
      }),
      trust: new Trust(),
      nowMs: () => nowMs,
    }),
    self: () => ({ host: '127.0.0.1', port: 7001, tls: false }),
    isKeyRotated: () => isKeyRotated,
    heartbeatMs: HEARTBEAT_MS,
    activeTransfers: () => 0,
    isMoving: () => false,
    get entryGroup() {
      return entryGroup;
    },
    takeLinkReports: () => [],
    takeClientReports: () => [],
    takeOriginReports: () => [],
    originReach: { untold: () => [], noteTold: () => {}, doubt: () => (told.doubts += 1) },
    onDirectory: () => keepDirectory(),
    onHeard: () => {},
    onBack: () => (told.backs += 1),
    onFailure: ({ code }) => failures.push(code),
    onState: (state) => states.push(state),
    nowMs: () => nowMs,
    steadyMs: () => steadyMs,
  });
}

const heartbeats = () =>
  master.requests
    .filter(({ path }) => path.endsWith('/heartbeat'))
    .map(({ body }) => body as HeartbeatRequest);

/** Makes the master keep its next answer to `path` back; gives what lets it go, once the request is there. */
function holdAnswer(path: string): Promise<() => void> {
  return new Promise((arrived) => {
    master.beforeAnswer = async (asked) => {
      if (!asked.endsWith(path)) return;
      master.beforeAnswer = async () => {};
      await new Promise<void>((release) => arrived(release));
    };
  });
}

describe('a drain', () => {
  test('is told to the master, also when a heartbeat from before is still on its way', async () => {
    await membership.start();
    const held = holdAnswer('/heartbeat');
    const earlier = membership.beat();
    const release = await held;
    const told = membership.drain();
    release();
    await Promise.all([earlier, told]);
    expect(heartbeats().at(-1)).toMatchObject({ draining: true });
  });

  test('is told by a depot that was about to register', async () => {
    const held = holdAnswer('/v1/depots');
    const started = membership.start();
    const release = await held;
    const told = membership.drain();
    release();
    await told;
    expect(heartbeats().at(-1)).toMatchObject({ draining: true });
    await started;
  });

  test('is not taken back by later heartbeats', async () => {
    await membership.start();
    await membership.drain();
    await membership.beat();
    expect(heartbeats().map(({ draining }) => draining)).toEqual([false, true, true]);
  });
});

describe('a size', () => {
  test('is reported once, and only when it is that of a file', async () => {
    await membership.start();
    const sizes: readonly [string, number][] = [
      ['none', 0],
      ['some', 1],
      ['much', 9e15],
    ];
    for (const [urlHash, sizeBytes] of sizes) membership.noteSize(urlHash, 'origin.example', sizeBytes);
    await membership.beat();
    await membership.beat();
    expect(heartbeats().map((beat) => beat.sizes)).toEqual([[], [{ urlHash: 'some', sizeBytes: 1 }], []]);
  });
});

describe('what a depot has to report', () => {
  const toldIn = () =>
    heartbeats().map(({ batch, sizes }) => [batch, ...sizes.map(({ urlHash }) => urlHash)]);

  test('is told again as it was until a master that is busy takes it, and what has come since right after it', async () => {
    await membership.start();
    master.onHeartbeat = () => ({ status: 503, body: {}, code: 'master-busy' });
    membership.noteSize('first', 'origin.example', 1);
    await membership.beat();
    membership.noteSize('second', 'origin.example', 2);
    await membership.beat();
    master.onHeartbeat = () => undefined;
    await membership.beat();
    await membership.beat();
    const [first, second] = [
      [1, 'first'],
      [2, 'second'],
    ];
    expect(toldIn()).toEqual([[undefined], first, first, first, second, [undefined]]);
    expect(membership.state).toEqual({ isMember: true, problem: undefined });
  });

  test('is told under the same number when the answer was lost on the way, and with the last heartbeat of all', async () => {
    await membership.start();
    membership.noteSize('first', 'origin.example', 1);
    master.beforeAnswer = async () => {
      master.beforeAnswer = async () => {};
      master.breakConnections();
    };
    await membership.beat();
    expect(toldIn().slice(1)).toEqual([
      [1, 'first'],
      [1, 'first'],
    ]);
    master.onHeartbeat = () => ({ status: 503, body: {}, code: 'master-busy' });
    membership.noteSize('second', 'origin.example', 2);
    await membership.beat();
    master.onHeartbeat = () => undefined;
    membership.noteSize('last', 'origin.example', 3);
    await membership.drain();
    expect(toldIn().slice(-2)).toEqual([
      [2, 'second'],
      [3, 'last'],
    ]);
  });

  test('is dropped when a master says that it cannot be, and what comes then is told', async () => {
    await membership.start();
    master.onHeartbeat = () => ({ status: 400, body: {}, code: 'bad-request' });
    membership.noteSize('bad', 'origin.example', 1);
    await membership.beat();
    master.onHeartbeat = () => undefined;
    membership.noteSize('good', 'origin.example', 1);
    await membership.beat();
    expect(toldIn().at(-1)).toEqual([2, 'good']);
  });
});

describe('a depot that cannot be reached', () => {
  const words = () =>
    heartbeats().flatMap(({ unreached, reached }) => (unreached || reached ? [{ unreached, reached }] : []));

  test('is told of at once, and again at once when it is reached; the next time as well', async () => {
    await membership.start();
    for (let time = 0; time < 2; time += 1) {
      await membership.noteUnreached('d2');
      membership.noteRtt('d2', 20);
      await expect.poll(() => words().length).toBe(2 * time + 2);
      nowMs += 3000;
    }
    const [away, there] = [{ unreached: ['d2'] }, { reached: ['d2'] }];
    expect(words()).toEqual([away, there, away, there]);
    membership.noteRtt('d2', 20);
    membership.noteRtt('d3', 20);
    await membership.beat();
    expect(words()).toHaveLength(4);
  });

  test('is told of with the next heartbeat that gets through', async () => {
    await membership.start();
    master.onHeartbeat = () => ({ status: 503, body: {} });
    await membership.noteUnreached('d2');
    master.onHeartbeat = () => undefined;
    await membership.beat();
    await membership.beat();
    expect(words()).toEqual([{ unreached: ['d2'] }, { unreached: ['d2'] }]);
  });
});

test('what was not reached while no master was, either, is told to none, but looked at again', async () => {
  await membership.start();
  master.beforeAnswer = async () => master.breakConnections();
  await membership.noteUnreached('d2');
  expect([failures, told]).toEqual([['master-unreachable'], { doubts: 0, backs: 0 }]);
  const before = heartbeats().length;
  master.beforeAnswer = async () => {};
  await membership.noteUnreached('d3');
  expect(told.backs).toBe(1);
  expect(told.doubts).toBeGreaterThan(0);
  nowMs += 3000;
  await membership.noteUnreached('d4');
  expect(
    heartbeats()
      .slice(before)
      .map(({ unreached }) => unreached),
  ).toEqual([undefined, ['d4']]);
  expect(told.backs, 'it was there').toBe(1);
});

describe('how a depot stands with its master', () => {
  const problem = (code: ErrorCode) => ({ code, message: ERRORS[code].message });

  test('is open before the first exchange, and good when the master counts on it', async () => {
    expect(membership.state).toEqual({ isMember: false, problem: undefined });
    await membership.start();
    expect(membership.state).toEqual({ isMember: true, problem: undefined });
    expect([states, failures]).toEqual([[membership.state], []]);
  });

  test('is that of a stranger with the wrong secret, with the sentence that says what to do', async () => {
    membership = memberWith('another secret');
    await membership.start();
    expect(membership.state).toMatchObject({ isMember: false, problem: { code: 'enrolment-refused' } });
    expect(membership.state.problem?.message).toContain(ERRORS['enrolment-refused'].message);
    await membership.beat();
    expect(states, 'said once').toHaveLength(1);
  });

  test('is that of a depot nobody is sent to, as long as it has not proved its address', async () => {
    master.standing = { state: 'unproved', problem: problem('depot-unreachable') };
    await membership.start();
    expect(membership.state).toEqual({ isMember: false, problem: problem('depot-unreachable') });
    master.standing = { state: 'up' };
    await membership.beat();
    expect(membership.state).toEqual({ isMember: true, problem: undefined });
  });

  test('names a second process, to the one that counts and to the other one', async () => {
    await membership.start();
    master.standing = { state: 'up', problem: problem('depot-twice') };
    await membership.beat();
    expect(membership.state).toEqual({ isMember: true, problem: problem('depot-twice') });
    master.onHeartbeat = () => ({ status: 409, body: {}, code: 'depot-twice' });
    await membership.beat();
    expect(membership.state).toMatchObject({ isMember: false, problem: { code: 'depot-twice' } });
    await membership.beat();
    expect(
      master.requests.filter(({ path }) => path === '/v1/depots'),
      'it does not push the other one out',
    ).toHaveLength(1);
  });

  test('is that of one that need only be started again where its key was rotated meanwhile', async () => {
    await membership.start();
    master.onHeartbeat = () => ({ status: 403, body: {}, code: 'depot-not-joined' });
    await membership.beat();
    expect(membership.state.problem?.message).not.toContain('rotated');
    isKeyRotated = true;
    await membership.beat();
    expect(membership.state).toMatchObject({ isMember: false, problem: { code: 'depot-not-joined' } });
    expect(membership.state.problem?.message).toContain('(start it again: its key was rotated)');
    // What has nothing to do with keys is said as it is.
    master.onHeartbeat = () => ({ status: 503, body: {}, code: 'master-busy' });
    await membership.beat();
    expect(membership.state.problem?.message).not.toContain('rotated');
  });

  test('is mended at once where the master does not know the depot any more', async () => {
    await membership.start();
    master.onHeartbeat = () => {
      master.onHeartbeat = () => undefined;
      return { status: 404, body: {}, code: 'depot-unknown' };
    };
    await membership.beat();
    expect(membership.state).toEqual({ isMember: true, problem: undefined });
    expect(failures).toEqual([]);
    expect(master.requests.map(({ path }) => path.split('/').at(-1))).toEqual([
      'depots',
      'heartbeat',
      'heartbeat',
      'depots',
      'heartbeat',
    ]);
  });

  test('outlives a heartbeat that the master does not take, and a master that fails inside', async () => {
    await membership.start();
    for (const [status, code] of [
      [400, 'bad-request'],
      [503, 'master-busy'],
      [500, 'internal'],
    ] as const) {
      master.onHeartbeat = () => ({ status, body: {}, code });
      await membership.beat();
      expect(membership.state).toMatchObject({ isMember: true, problem: { code } });
    }
    steadyMs += 3 * HEARTBEAT_MS + 1;
    await membership.beat();
    expect(membership.state).toMatchObject({ isMember: false, problem: { code: 'internal' } });
  });

  test('outlives a disk that is full, and names it', async () => {
    keepDirectory = () => Promise.reject(new Error('ENOSPC: no space left on device'));
    await membership.start();
    expect(failures).toEqual(['internal']);
    expect(membership.state).toMatchObject({
      isMember: true,
      problem: { code: 'internal', message: expect.stringContaining('no space left') as string },
    });
    keepDirectory = async () => {};
    await membership.beat();
    expect(membership.state).toEqual({ isMember: true, problem: undefined });
    expect(master.requests.filter(({ path }) => path === '/v1/depots')).toHaveLength(1);
  });

  test('is bad where what answers is no master', async () => {
    master.onHeartbeat = () => ({ status: 200, body: { depots: 'none' } });
    await membership.start();
    expect(membership.state).toMatchObject({ isMember: false, problem: { code: 'master-bad-answer' } });
  });

  test.each([
    ['as the depot knows them', undefined, HEARTBEAT_MS],
    ['as the master has said', 5, 5000],
  ])(
    'outlives a master that is away for three heartbeats, %s, and not more',
    async (_, said, heartbeatMs) => {
      master.heartbeatSeconds = said;
      await membership.start();
      await master.close();
      steadyMs += 3 * heartbeatMs;
      await membership.beat();
      expect(membership.state).toMatchObject({ isMember: true, problem: { code: 'master-unreachable' } });
      steadyMs += 1;
      await membership.beat();
      expect(membership.state).toMatchObject({ isMember: false, problem: { code: 'master-unreachable' } });
      expect(states).toHaveLength(3);
    },
  );

  test('stays what it was for as long when the clock is set meanwhile, and no longer', async () => {
    await membership.start();
    await master.close();
    nowMs += 10 * HEARTBEAT_MS;
    await membership.beat();
    expect(membership.state).toMatchObject({ isMember: true, problem: { code: 'master-unreachable' } });
    nowMs -= 20 * HEARTBEAT_MS;
    steadyMs += 3 * HEARTBEAT_MS + 1;
    await membership.beat();
    expect(membership.state).toMatchObject({ isMember: false, problem: { code: 'master-unreachable' } });
  });
});

describe('a depot of an entry group', () => {
  const south = { id: 'south', host: 'south.example', tls: false };
  beforeEach(() => {
    entryGroup = south;
  });
  const said = () => heartbeats().map((beat) => beat.entryGroup);

  test.each([
    ['the same', south],
    ['nothing, as one of before, or before its operator has', undefined],
  ])('says that it is in it to a master that says %s', async (_, told) => {
    master.entryGroup = told;
    await membership.start();
    expect(said()).toEqual(['south']);
    expect(membership.state).toEqual({ isMember: true, problem: undefined });
  });

  test.each([
    ['id', { id: 'north' }],
    ['host', { host: 'north.example' }],
    ['TLS', { tls: true }],
  ])(
    'does not where the master gives it another %s, and tells its operator until both are the same',
    async (_, other) => {
      master.entryGroup = { ...south, ...other };
      await membership.start();
      await membership.beat();
      expect(said()).toEqual([undefined, undefined]);
      expect(membership.state).toMatchObject({ isMember: true, problem: { code: 'entry-group-differs' } });
      expect(membership.state.problem?.message).toContain(
        '(here south, south.example without TLS, at the master ',
      );
      master.entryGroup = south;
      await membership.beat();
      await membership.beat();
      expect(said().at(-1)).toBe('south');
      expect(membership.state.problem).toBeUndefined();
    },
  );
});

describe('a depot that beats more seldom than its master wants to hear of it', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());
  /** Lets so much time pass, and gives how many heartbeats have come of it. */
  const beatsWithin = async (ms: number): Promise<number> => {
    const before = heartbeats().length;
    vi.advanceTimersByTime(ms);
    // One that has begun is shared, so that this one is behind it.
    await membership.refetch('key');
    return heartbeats().length - before;
  };

  test('beats as often as the master wants', async () => {
    master.heartbeatSeconds = 5;
    await membership.start();
    await membership.refetch('key');
    for (let time = 0; time < 10; time += 1) expect(await beatsWithin(5000)).toBe(1);
  });

  test('does so at once when it hears of it, however far away its next heartbeat was', async () => {
    await membership.start();
    await membership.refetch('key');
    await beatsWithin(600_000);
    expect(await beatsWithin(5000), 'the next one is far away').toBe(0);
    master.heartbeatSeconds = 5;
    await membership.beat();
    for (let time = 0; time < 3; time += 1) expect(await beatsWithin(5000)).toBe(1);
  });

  test('is not hurried beyond a heartbeat a second', async () => {
    master.heartbeatSeconds = 0.001;
    await membership.start();
    await membership.refetch('key');
    expect(await beatsWithin(999)).toBe(0);
    expect(await beatsWithin(1)).toBe(1);
  });
});

test('an unknown key is asked for again, also when the clock was set back meanwhile', async () => {
  await membership.start();
  await membership.refetch('key');
  nowMs -= 3_600_000;
  await membership.refetch('key');
  expect(heartbeats()).toHaveLength(3);
  await membership.refetch('key');
  expect(heartbeats(), 'at most every 30 s').toHaveLength(3);
});

test('strangers that say to be depots leave those that tickets name a question of their own', async () => {
  await membership.start();
  await membership.refetch('caller');
  await membership.refetch('caller');
  expect(heartbeats(), 'at most every 30 s').toHaveLength(2);
  await membership.refetch('depot');
  expect(heartbeats()).toHaveLength(3);
});

test('a depot that was stopped while it started sends no heartbeats any more', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const held = holdAnswer('/v1/depots');
  const started = membership.start();
  membership.stop();
  (await held)();
  await started;
  expect(vi.getTimerCount()).toBe(0);
});
