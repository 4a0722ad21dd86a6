import { describe, expect, it } from 'vitest';
import type { Download } from '../browser/download.ts';
import { download, FakeDownloads, NOW_MS } from '../testing/fake-downloads.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import type { GoOn } from './continuation.ts';
import type { Job } from './job.ts';
import { JobKeeper } from './job-keeper.ts';
import { JobStore } from './job-store.ts';
import { standstillLooks } from './standstill.ts';

const BROKEN = { state: 'interrupted', error: 'NETWORK_FAILED', canResume: true } as const;

/** A keeper whose clock stands until it is moved. */
async function setUp(patch: Partial<Download>, jobPatch: Partial<Job> = {}, standstillMs?: number) {
  const downloads = new FakeDownloads(download({ id: 2, url: job().url, ...patch }));
  const jobs = new JobStore(memoryArea());
  await jobs.add(job(jobPatch));
  const world = {
    downloads,
    jobs,
    nowMs: NOW_MS,
    wakeUps: [] as number[],
    calls: [] as string[],
    goOn: async (_job: Job): Promise<GoOn> => ({ result: 'tried' }),
    change: async (): Promise<Partial<Job> | 'nobody' | undefined> => undefined,
    leaveGone: async (): Promise<Partial<Job> | undefined> => undefined,
    recovered: async (): Promise<void> => {},
  };
  const keeper = new JobKeeper({
    downloads,
    jobs,
    continuation: {
      ...(standstillMs !== undefined && {
        standstill: {
          ...standstillLooks,
          afterMs: standstillMs,
          leaveGone: async () => {
            world.calls.push(`why still at ${(world.nowMs - NOW_MS) / 1_000} s`);
            return world.leaveGone();
          },
        },
      }),
      goOn: (asked) => {
        world.calls.push(`go on at ${(world.nowMs - NOW_MS) / 1_000} s`);
        return world.goOn(asked);
      },
      change: async (_job, _download, leftSeconds) => {
        world.calls.push(`change with ${leftSeconds} s left`);
        return world.change();
      },
      recovered: async () => {
        world.calls.push('recovered');
        await world.recovered();
      },
      lead: async (led, _download, to) => {
        world.calls.push(`lead ${to}`);
        return world.goOn(led);
      },
      release: async () => {
        world.calls.push('released');
      },
    },
    now: () => world.nowMs,
    wakeAt: (timeMs) => world.wakeUps.push(timeMs),
  });
  const theJob = async () => (await jobs.all())[0];
  return Object.assign(world, { keeper, theJob });
}

/** Lets the clock run from one wake-up to the next. */
async function sleep(world: Awaited<ReturnType<typeof setUp>>, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    world.nowMs = Math.min(...world.wakeUps.splice(0));
    await world.keeper.look();
  }
}

describe('a job whose download', () => {
  it.each<[string, Partial<Download>]>([
    ['runs', {}],
    ['is paused, which Firefox calls interrupted', { ...BROKEN, error: 'USER_CANCELED', paused: true }],
  ])('%s is left alone', async (_what, patch) => {
    const world = await setUp(patch);
    await world.keeper.follow(2);
    expect(world.calls).toEqual([]);
    expect(world.downloads.log).toEqual([]);
    expect(await world.theJob()).toMatchObject({ state: 'running' });
  });

  it('is whole is done, with its size and its time', async () => {
    const world = await setUp({ state: 'complete', bytesReceived: 50_000_000 });
    world.nowMs += 12_000;
    await world.keeper.follow(2);
    expect(await world.theJob()).toMatchObject({
      state: 'done',
      bytes: 50_000_000,
      startedAtMs: NOW_MS,
      doneAtMs: NOW_MS + 12_000,
    });
    expect(world.calls).toEqual(['released']);
  });

  it('is called whole and is not as long as the file waits for that, and is done once it has another one', async () => {
    const world = await setUp({ state: 'complete', totalBytes: 73, bytesReceived: 73 });
    await world.keeper.follow(2);
    expect(await world.theJob()).toMatchObject({
      state: 'waiting',
      interruption: { problem: 'other file' },
      breaks: 1,
    });
    world.goOn = async () => ({ result: 'moved', patch: { file: { ...job().file, totalBytes: 73 } } });
    await sleep(world, 2);
    expect(world.calls).toEqual(['go on at 0.25 s', 'released']);
    expect(await world.theJob()).toMatchObject({ state: 'done', bytes: 73 });
  });

  it('was cancelled by the user is forgotten', async () => {
    const world = await setUp({ state: 'interrupted', error: 'USER_CANCELED' });
    await world.keeper.follow(2);
    expect(await world.jobs.all()).toEqual([]);
    expect(world.calls).toEqual(['released']);
  });

  it('was erased by the user is forgotten at once', async () => {
    const world = await setUp({});
    await world.downloads.erase(2);
    await world.keeper.erased(2);
    expect(await world.jobs.all()).toEqual([]);
    expect(world.calls).toEqual(['released']);
  });

  it('is not in the list of a browser that has just started is kept, and found when the list comes', async () => {
    const world = await setUp(BROKEN);
    const listed = world.downloads.items.get(2) as Download;
    world.downloads.items.clear();
    await world.keeper.look();
    await sleep(world, 14);
    expect(await world.theJob()).toMatchObject({ state: 'running' });
    world.downloads.items.set(2, listed);
    await sleep(world, 1);
    expect(await world.theJob()).toMatchObject({ state: 'waiting' });
    await sleep(world, 1);
    expect(world.calls).toEqual(['go on at 30.25 s']);
  });

  it.each<[string, Partial<Download>]>([
    ['is missing', { id: 7, url: 'https://other.example/' }],
    ['belongs to somebody else after the browser has numbered anew', { url: 'https://other.example/' }],
  ])('%s for half a minute is forgotten', async (_what, patch) => {
    const world = await setUp(patch);
    if (patch.id) world.downloads.items.clear();
    await world.keeper.look();
    await sleep(world, 14);
    expect(await world.jobs.all()).toHaveLength(1);
    await sleep(world, 1);
    expect(await world.jobs.all()).toEqual([]);
    expect(world.calls).toEqual(['released']);
  });

  it('has no room on the disk is left as it is, until the user resumes it', async () => {
    const world = await setUp({ ...BROKEN, error: 'FILE_NO_SPACE' });
    await world.keeper.follow(2);
    expect(await world.theJob()).toMatchObject({
      state: 'stuck',
      interruption: { problem: 'FILE_NO_SPACE' },
    });
    expect(world.downloads.log).toEqual([]);
    world.downloads.change(2, { state: 'in_progress', error: undefined });
    await world.keeper.follow(2);
    expect(await world.theJob()).toMatchObject({ state: 'running' });
  });

  it.each(['FILE_BLOCKED', 'FILE_VIRUS_INFECTED', 'FILE_SECURITY_CHECK_FAILED'])(
    'is forbidden (%s) is lost, and says so, whatever broke before: no room helps',
    async (error) => {
      const world = await setUp(BROKEN);
      await world.keeper.follow(2);
      world.downloads.change(2, { error });
      await world.keeper.follow(2);
      expect(await world.theJob()).toMatchObject({ state: 'lost', interruption: { problem: error } });
      expect(world.calls).toEqual(['released']);
    },
  );
});

describe('a download of a link, whose name the browser chooses,', () => {
  it.each(['in_progress', 'interrupted', 'complete'] as const)(
    'has that name as soon as it is seen (%s)',
    async (state) => {
      const whole = state === 'complete' ? { bytesReceived: 50_000_000 } : {};
      const world = await setUp({ name: '', state: 'in_progress' }, { name: '' });
      await world.keeper.follow(2);
      expect(await world.theJob()).toMatchObject({ name: '' });
      world.downloads.change(2, {
        name: 'setup.exe',
        state,
        error: state === 'interrupted' ? 'CRASH' : undefined,
        ...whole,
      });
      await world.keeper.follow(2);
      world.downloads.change(2, { name: 'setup (1).exe' });
      await world.keeper.follow(2);
      expect(await world.theJob()).toMatchObject({ name: 'setup.exe' });
    },
  );

  it('has none from what a network that wants a login answers in its place', async () => {
    const world = await setUp({ name: 'login.html', totalBytes: undefined }, { name: '' });
    await world.keeper.follow(2);
    expect(await world.theJob()).toMatchObject({ name: '' });
  });

  it('keeps the name that the site has offered', async () => {
    const world = await setUp({ name: 'setup (1).exe' }, { name: 'setup.exe' });
    await world.keeper.follow(2);
    expect(await world.theJob()).toMatchObject({ name: 'setup.exe' });
  });
});

describe('an interrupted download', () => {
  it.each([
    'NETWORK_FAILED',
    'NETWORK_DISCONNECTED',
    'NETWORK_TIMEOUT',
    'SERVER_FAILED',
    'SERVER_UNREACHABLE',
    'SERVER_CONTENT_LENGTH_MISMATCH',
    'USER_SHUTDOWN',
    'CRASH',
    'FILE_TRANSIENT_ERROR',
  ])(
    'by %s is tried again after 0.25, 1, 4, 16 and then every 60 s, and nothing of it is given up',
    async (error) => {
      const world = await setUp({ ...BROKEN, error, bytesReceived: 7 });
      world.goOn = async () => ({ result: 'not-yet', problem: 'origin-busy' });
      await world.keeper.follow(2);
      expect(world.calls).toEqual([]);
      await sleep(world, 5);
      const times = [0.25, 1.25, 5.25, 21.25, 81.25].map((seconds) => `go on at ${seconds} s`);
      expect(world.calls).toEqual(times);
      expect(await world.theJob()).toMatchObject({
        state: 'waiting',
        bytes: 7,
        interruption: { sinceMs: NOW_MS, tries: 5, problem: 'origin-busy' },
      });
      expect(world.downloads.log).toEqual([]);
    },
  );

  it('is tried at once when the network is back, and by no event before its time', async () => {
    const world = await setUp(BROKEN);
    await world.keeper.follow(2);
    await world.keeper.follow(2);
    expect(world.calls).toEqual([]);
    await world.keeper.tryAll();
    expect(world.calls).toEqual(['go on at 0 s']);
  });

  it('is tried at once when the user wants it, who is told what came of it', async () => {
    const world = await setUp(BROKEN, { key: 'a' });
    world.goOn = async () => ({ result: 'click' });
    await world.keeper.follow(2);
    expect(await world.keeper.goOn('a')).toBe('click');
    expect(world.calls).toEqual(['go on at 0 s']);
    expect(await world.keeper.goOn('gone')).toBeUndefined();
  });

  it('waits for its next try although the one before broke in the same moment', async () => {
    const world = await setUp(BROKEN);
    await world.keeper.follow(2);
    await sleep(world, 1);
    world.downloads.change(2, { state: 'in_progress' });
    await world.keeper.follow(2);
    world.downloads.change(2, { ...BROKEN, bytesReceived: 0 });
    await world.keeper.follow(2);
    expect(world.calls).toEqual(['go on at 0.25 s']);
  });

  it('is as new when bytes have come again', async () => {
    const world = await setUp({ ...BROKEN, bytesReceived: 7 });
    await world.keeper.follow(2);
    await sleep(world, 1);
    world.downloads.change(2, { state: 'in_progress', error: undefined, bytesReceived: 8 });
    await sleep(world, 1);
    expect(world.calls).toEqual(['go on at 0.25 s', 'recovered']);
    expect(await world.theJob()).toMatchObject({ state: 'running', bytes: 8, interruption: undefined });
    world.downloads.change(2, { ...BROKEN });
    await world.keeper.follow(2);
    expect(await world.theJob()).toMatchObject({ interruption: { bytes: 8, tries: 0 } });
  });

  it('remembers the bytes on disk though Firefox says 0 after a failed resumption', async () => {
    const world = await setUp({ ...BROKEN, bytesReceived: 700 });
    await world.keeper.follow(2);
    world.downloads.change(2, { bytesReceived: 0 });
    await sleep(world, 1);
    expect(await world.theJob()).toMatchObject({ bytes: 700, interruption: { bytes: 700 } });
  });

  it('is left to a click where the browser wants one, but tried when the network is back', async () => {
    const world = await setUp(BROKEN);
    world.goOn = async () => ({ result: 'click' });
    await world.keeper.follow(2);
    await sleep(world, 1);
    expect(await world.theJob()).toMatchObject({ state: 'click' });
    world.nowMs += 3_600_000;
    await world.keeper.look();
    expect(world.calls).toHaveLength(1);
    await world.keeper.tryAll();
    expect(world.calls).toHaveLength(2);
  });

  it('is left to a click after a day, with everything on disk', async () => {
    const world = await setUp(BROKEN, { bytes: 5 });
    world.goOn = async () => ({ result: 'not-yet', problem: '' });
    await world.keeper.follow(2);
    for (let tries = 0; world.wakeUps.length > 0 && tries < 2_000; tries += 1) await sleep(world, 1);
    expect(world.nowMs - NOW_MS).toBeGreaterThan(23.9 * 3_600_000);
    expect(await world.theJob()).toMatchObject({ state: 'click', bytes: 5 });
    expect(world.downloads.log).toEqual([]);
  });

  it('says so when nothing is left to go on from', async () => {
    const world = await setUp({ ...BROKEN, canResume: false });
    world.goOn = async () => ({ result: 'lost' });
    await world.keeper.follow(2);
    await sleep(world, 1);
    expect(await world.theJob()).toMatchObject({ state: 'lost' });
    expect(world.calls.at(-1)).toBe('released');
  });

  it('is resumed once, however many events tell of it', async () => {
    const world = await setUp(BROKEN);
    const answer = Promise.withResolvers<GoOn>();
    world.goOn = () => answer.promise;
    await world.keeper.follow(2);
    const looks = [world.keeper.tryAll(), world.keeper.follow(2), world.keeper.follow(2)];
    answer.resolve({ result: 'tried' });
    await Promise.all(looks);
    expect(world.calls).toHaveLength(1);
  });
});

describe('a download without a byte for a minute', () => {
  it('is tried again although its browser says that it runs', async () => {
    const world = await setUp({ bytesReceived: 500 });
    await world.keeper.follow(2);
    await sleep(world, 1);
    expect(await world.theJob()).toMatchObject({ state: 'waiting', interruption: { problem: 'no bytes' } });
    await sleep(world, 65);
    expect(world.calls[0]).toBe('go on at 90.25 s');
  });

  it('is left alone as long as bytes come, however slowly', async () => {
    const world = await setUp({ bytesReceived: 500 });
    await world.keeper.follow(2);
    for (let look = 1; look < 5; look += 1) {
      world.downloads.change(2, { bytesReceived: 500 + look });
      await sleep(world, 1);
    }
    expect(world.calls).toEqual([]);
    expect(await world.theJob()).toMatchObject({ state: 'running', bytes: 504 });
  });
});

describe('a download whose bytes are all there, and which the browser asks the user about', () => {
  it('is left alone for as long as he thinks', async () => {
    const world = await setUp({ bytesReceived: 50_000_000 }, { promisedBps: 80e6, directBps: 20e6 });
    await world.keeper.follow(2);
    await sleep(world, 30);
    expect(world.calls).toEqual([]);
    expect(await world.theJob()).toMatchObject({ state: 'running', interruption: undefined });
  });
});

describe('what stands on disk beside a new download', () => {
  const SPARE = {
    downloadId: 9,
    bytes: 1_000,
    url: 'https://old.example/',
    way: 'chain',
    chain: ['x'],
    interruption: undefined,
  } as const;

  it('stays until the new one has delivered more, and goes then', async () => {
    const world = await setUp({ bytesReceived: 1_000 }, { spare: SPARE });
    world.downloads.items.set(9, download({ id: 9, ...BROKEN, bytesReceived: 1_000 }));
    await world.keeper.follow(2);
    expect(world.downloads.log).toEqual([]);
    world.downloads.change(2, { bytesReceived: 1_001 });
    await sleep(world, 1);
    expect(world.downloads.log).toEqual(['cancel 9', 'erase 9']);
    expect(await world.theJob()).toMatchObject({ spare: undefined });
  });

  /** Download 2 has 500 bytes, and began beside download 9, of which this is so now. */
  async function beside(patch: Partial<Download>, copy: Partial<Download> = {}) {
    const world = await setUp({ bytesReceived: 500, ...copy }, { spare: SPARE });
    world.downloads.items.set(9, download({ id: 9, bytesReceived: 1_000, ...patch }));
    world.goOn = async () => ({ result: 'moved', patch: { downloadId: 9, spare: undefined } });
    return world;
  }

  it.each<[string, Partial<Download>, Partial<Download>]>([
    ['goes on again and has more', { bytesReceived: 1_001 }, {}],
    ['is whole, by itself or by the user', { state: 'complete', bytesReceived: 50_000_000 }, {}],
    ['is whole while the new one is paused', { state: 'complete' }, { paused: true }],
    ['goes on again when the user ends the new one', { bytesReceived: 1_001 }, { error: 'USER_CANCELED' }],
  ])('counts again as soon as it is told that it %s', async (_what, patch, copy) => {
    const world = await beside(patch, copy);
    await world.keeper.follow(9);
    expect(world.calls).toEqual(['go on at 0 s']);
    expect(await world.theJob()).toMatchObject({ downloadId: 9, spare: undefined });
  });

  it.each<[string, Partial<Download>, Partial<Download>]>([
    ['brings nothing more', {}, {}],
    ['has gone on, and broke or was paused since', { paused: true, bytesReceived: 2_000 }, {}],
    ['is whole, and not the file', { state: 'complete', totalBytes: 73 }, {}],
  ])('leaves the new one alone when it %s', async (_what, patch, copy) => {
    const world = await beside(patch, copy);
    await world.keeper.follow(9);
    expect([...world.calls, ...world.downloads.log]).toEqual([]);
  });

  it('goes for what has more than it has now, not than it had', async () => {
    const world = await beside({ ...BROKEN, bytesReceived: 2_000 }, { bytesReceived: 1_500 });
    await world.keeper.follow(2);
    expect(world.downloads.log).toEqual([]);
    world.downloads.change(2, { bytesReceived: 2_001 });
    await sleep(world, 1);
    expect(world.downloads.log).toEqual(['cancel 9', 'erase 9']);
  });

  it('is left to the user who lets it go on, and ends the new one', async () => {
    const world = await beside({}, { state: 'interrupted', error: 'USER_CANCELED' });
    await world.keeper.follow(2);
    expect(world.downloads.log).toEqual([]);
    expect(await world.jobs.all()).toEqual([]);
  });

  it('goes on where the new one has no room on the disk, which it has taken itself', async () => {
    const world = await setUp({ ...BROKEN, error: 'FILE_NO_SPACE' }, { spare: SPARE });
    world.goOn = async () => ({
      result: 'moved',
      patch: { downloadId: 9, state: 'waiting', spare: undefined },
    });
    await world.keeper.follow(2);
    expect(world.calls).toEqual(['go on at 0 s']);
    expect(await world.theJob()).toMatchObject({ downloadId: 9, state: 'waiting', spare: undefined });
  });

  it('goes with the new one when the user ends that', async () => {
    for (const patch of [BROKEN, { paused: true }]) {
      const spare = { ...SPARE, leftSeconds: 60 };
      const world = await setUp({ state: 'interrupted', error: 'USER_CANCELED' }, { spare });
      world.downloads.items.set(9, download({ id: 9, ...patch }));
      await world.keeper.follow(2);
      expect(world.downloads.log).toEqual(['cancel 9', 'erase 9']);
    }
  });
});

describe('a chain that is slower than half its promise, and than direct', () => {
  const PROMISED = { promisedBps: 80e6, directBps: 20e6 };

  /** Lets five-second looks pass, in each of which so many bytes come. */
  async function run(world: Awaited<ReturnType<typeof setUp>>, looks: number, bytesPerLook: number) {
    await world.keeper.follow(2);
    for (let look = 0; look < looks; look += 1) {
      const { bytesReceived = 0 } = world.downloads.items.get(2) ?? {};
      world.downloads.change(2, { bytesReceived: bytesReceived + bytesPerLook });
      await sleep(world, 1);
    }
  }

  it('is left for another way after ten seconds, and the job says which it was', async () => {
    const world = await setUp({}, PROMISED);
    world.change = async () => ({ way: 'direct', chain: [] });
    await run(world, 1, 1_000_000);
    expect(world.calls).toEqual([]);
    await run(world, 1, 1_000_000);
    expect(world.calls).toEqual(['change with 240 s left']);
    expect(await world.theJob()).toMatchObject({
      way: 'direct',
      changes: 1,
      lastChange: {
        atMs: NOW_MS + 10_000,
        way: 'chain',
        chain: ['pe-1', 'rj-1'],
        rateBps: 1_600_000,
        bytes: 2_000_000,
      },
    });
    await run(world, 10, 1_000);
    expect(world.calls).toHaveLength(1);
  });

  it('holds nothing any more where it is lost on the way to another one', async () => {
    const world = await setUp({}, PROMISED);
    world.change = async () => ({ state: 'lost' });
    await run(world, 2, 1_000_000);
    expect(world.calls.at(-1)).toBe('released');
  });

  it('is looked at three times, and not again when nothing better is found', async () => {
    const world = await setUp({}, PROMISED);
    await run(world, 30, 1_000_000);
    expect(world.calls).toHaveLength(3);
    expect(await world.theJob()).toMatchObject({ way: 'chain', changes: 3, state: 'running' });
    expect((await world.theJob())?.lastChange).toBeUndefined();
  });

  it("is left although nobody had answered for long, which was the user's own link", async () => {
    const world = await setUp({}, PROMISED);
    world.change = async () => 'nobody';
    await run(world, 60, 1_000);
    expect(world.calls.length).toBeGreaterThan(10);
    expect((await world.theJob())?.changes).toBeUndefined();
    world.change = async () => ({ way: 'direct', chain: [] });
    await run(world, 3, 1_000_000);
    expect(await world.theJob()).toMatchObject({ way: 'direct', changes: 1 });
  });

  it('is kept while it is as fast as direct would be, or no plan promised anything', async () => {
    const world = await setUp({}, PROMISED);
    await run(world, 5, 13_000_000);
    const older = await setUp({});
    await run(older, 5, 1_000);
    expect([...world.calls, ...older.calls]).toEqual([]);
  });

  it('is not noticed by what was slept through, by the background or the machine, but by ten seconds after it', async () => {
    const pace = { atMs: NOW_MS - 60_000, bytes: 900, rateBps: 1, slowSinceMs: NOW_MS - 65_000 };
    const world = await setUp({ bytesReceived: 1_000 }, { ...PROMISED, pace });
    await world.keeper.look();
    expect(world.calls).toEqual([]);
    await run(world, 2, 1_000_000);
    expect(world.calls).toHaveLength(1);
  });
});

describe('a chain to which nothing comes any more, where another way costs no bytes,', () => {
  const PROMISED = { promisedBps: 80e6, directBps: 20e6 };
  const SECOND = 3_000_000;
  type World = Awaited<ReturnType<typeof setUp>>;

  /** Looks each second, with so much more each time. */
  async function run(world: World, ...gains: readonly number[]): Promise<void> {
    for (const gain of gains) {
      const before = (await world.downloads.get(2))?.bytesReceived ?? 0;
      world.downloads.change(2, { bytesReceived: before + gain });
      world.nowMs += 1_000;
      await world.keeper.look();
    }
  }

  /** One that has run well for some seconds. */
  async function runningWell(gain = SECOND): Promise<World> {
    const world = await setUp({}, PROMISED, 2_500);
    await world.keeper.follow(2);
    await run(world, gain, gain, gain);
    return world;
  }

  it('is asked why within four seconds, once for each time that it stands still', async () => {
    const world = await runningWell();
    await run(world, 0, 0);
    expect(world.calls).toEqual([]);
    expect(world.wakeUps.at(-1)).toBe(world.nowMs + 1_000);
    await run(world, 0, 0, 0, 0);
    expect(world.calls).toEqual(['why still at 6 s']);
    expect((await world.theJob())?.changes).toBeUndefined();
    await run(world, 20 * SECOND, 0, 0, 0);
    expect(world.calls).toEqual(['why still at 6 s', 'why still at 13 s']);
  });

  it('comes by another way where its entry depot is gone, which counts as a change', async () => {
    const world = await runningWell();
    world.leaveGone = async () => ({ way: 'chain', chain: ['sp-1'] });
    await run(world, 0, 0, 0);
    expect(await world.theJob()).toMatchObject({
      chain: ['sp-1'],
      changes: 1,
      bytesAtMs: world.nowMs,
      lastChange: { chain: ['pe-1', 'rj-1'] },
    });
  });

  it('is as slow as before where its entry depot is there', async () => {
    const world = await runningWell();
    await run(world, ...Array.from({ length: 17 }, () => 0));
    expect(world.calls.slice(0, 2)).toEqual(['why still at 6 s', 'change with Infinity s left']);
  });

  it('has stood still neither while the machine slept, nor while the user had it paused', async () => {
    for (const seconds of [3, 5, 8, 12]) {
      const slept = await runningWell();
      slept.nowMs += seconds * 1_000;
      await run(slept, 0, SECOND);
      const paused = await runningWell();
      paused.downloads.change(2, { paused: true });
      await run(paused, ...Array.from({ length: seconds }, () => 0));
      paused.downloads.change(2, { paused: false });
      await run(paused, 0, 0, SECOND);
      expect([slept.calls, paused.calls]).toEqual([[], []]);
    }
  });

  it('does not stand still while bytes come again that had been there', async () => {
    const world = await runningWell();
    await run(world, 60_000_000);
    world.downloads.change(2, { bytesReceived: 0 });
    await run(world, ...Array.from({ length: 9 }, () => SECOND));
    expect(world.calls).toEqual([]);
  });

  it('has not begun before its first bytes come', async () => {
    const world = await runningWell(0);
    await run(world, 0, 0, 0);
    expect(world.calls).toEqual([]);
  });

  it('is one that is slow where another way costs bytes', async () => {
    const costly = await setUp({}, PROMISED);
    await costly.keeper.follow(2);
    await run(costly, SECOND, SECOND, SECOND, 0, 0, 0, 0, 0);
    expect(costly.calls).toEqual([]);
    expect(costly.wakeUps.at(-1)).toBe(costly.nowMs + 5_000);
  });
});

describe('a browser that was started again, and numbers its downloads anew,', () => {
  const PLACE = { folder: '/home/u/Downloads', name: 'file.iso' };
  const ORIGIN = job().originUrl;
  const renumbered = (patch: Partial<Download> = {}) =>
    download({ id: 7, url: job().url, ...PLACE, ...BROKEN, ...patch });
  /** Firefox lets nobody lead it any more. */
  const FROM_SITE = { way: 'direct', choseDirect: true, isKept: true, wasPaused: true };

  it('finds each download by its address and its place, and goes on with it', async () => {
    const world = await setUp({ ...PLACE, url: ORIGIN, addonId: 'longhaul' }, { url: ORIGIN });
    await world.keeper.follow(2);
    world.downloads.items.clear();
    world.downloads.items.set(2, download({ id: 2, url: 'https://other.example/' }));
    world.downloads.items.set(7, renumbered({ url: ORIGIN }));
    await world.keeper.look();
    expect(await world.theJob()).toMatchObject({ downloadId: 7, state: 'waiting', ...FROM_SITE });
    await sleep(world, 1);
    expect(world.calls).toHaveLength(1);
  });

  it('calls none a chain that by chance has the same number, and what comes that way later is one', async () => {
    const own = { ...PLACE, url: ORIGIN, addonId: 'longhaul' };
    const world = await setUp(own, { url: ORIGIN });
    await world.keeper.follow(2);
    expect(await world.theJob()).toMatchObject({ way: 'chain' });
    world.downloads.change(2, { addonId: undefined });
    await world.keeper.look();
    expect(await world.theJob()).toMatchObject({ downloadId: 2, ...FROM_SITE });
    await world.jobs.change(job().key, { way: 'chain' });
    await world.keeper.look();
    expect(await world.theJob()).toMatchObject({ way: 'chain' });
  });

  it("goes on at the depot that a page's own download was led to, which no time of before speaks for", async () => {
    const world = await setUp(PLACE);
    await world.keeper.follow(2);
    expect((await world.theJob())?.wasPaused).toBeUndefined();
    world.downloads.items.clear();
    world.downloads.items.set(7, renumbered());
    await world.keeper.look();
    expect(await world.theJob()).toMatchObject({ downloadId: 7, way: 'chain', wasPaused: true });
  });

  it.each<[string, Partial<Download>]>([
    ['another file of the same address', { name: 'file(1).iso' }],
    ['what the user has cancelled', { error: 'USER_CANCELED', canResume: false }],
  ])('takes %s for none of its own', async (_what, patch) => {
    const world = await setUp(PLACE);
    await world.keeper.follow(2);
    world.downloads.items.clear();
    world.downloads.items.set(7, renumbered(patch));
    world.wakeUps.length = 0;
    await world.keeper.look();
    while (world.wakeUps.length > 0) await sleep(world, 1);
    expect(await world.jobs.all()).toEqual([]);
    expect(world.downloads.log).toEqual([]);
  });

  it('leaves a download to the job that has it', async () => {
    const world = await setUp(PLACE);
    await world.keeper.follow(2);
    await world.jobs.add(job({ key: 'b', downloadId: 7 }));
    world.downloads.items.clear();
    world.downloads.items.set(7, renumbered());
    await world.keeper.erased(2);
    expect((await world.jobs.all()).map(({ key }) => key)).toEqual(['b']);
  });
});

describe('a closed lid', () => {
  const NIGHT_MS = 8 * 3_600_000;

  it('is no time in which an interrupted download was waited for: nobody gives its bytes up for that', async () => {
    const world = await setUp(BROKEN);
    const waited: number[] = [];
    world.goOn = async ({ interruption }) => {
      waited.push(world.nowMs - (interruption?.sinceMs ?? 0));
      return { result: 'not-yet', problem: '' };
    };
    await world.keeper.follow(2);
    await sleep(world, 2);
    world.nowMs += NIGHT_MS;
    await world.keeper.look();
    expect(waited.at(-1)).toBeLessThan(10_000);
    await sleep(world, 2);
    expect(waited.at(-1)).toBeLessThan(100_000);
  });

  it('does not use up the day for which it is tried', async () => {
    const world = await setUp(BROKEN);
    world.goOn = async () => ({ result: 'not-yet', problem: '' });
    await world.keeper.follow(2);
    await sleep(world, 2);
    world.nowMs += 9 * NIGHT_MS;
    await world.keeper.look();
    expect(await world.theJob()).toMatchObject({ state: 'waiting' });
    await sleep(world, 3);
    expect(world.calls).toHaveLength(6);
  });

  it('leaves a download that it froze to be looked at anew, and its time says nothing of its way', async () => {
    const promised = { promisedBps: 80e6, directBps: 20e6 };
    const world = await setUp({ bytesReceived: 40_000_000 }, { ...promised, bytes: 40_000_000 });
    await world.keeper.follow(2);
    world.nowMs += NIGHT_MS;
    world.downloads.change(2, { bytesReceived: 40_000_001 });
    await world.keeper.look();
    expect(world.calls).toEqual([]);
    expect(await world.theJob()).toMatchObject({ state: 'running', wasPaused: true });
    expect(await world.theJob()).not.toHaveProperty('lastChange');
  });

  it('or a clock that is set back while it runs makes its time say nothing of its way', async () => {
    const promised = { promisedBps: 80e6, directBps: 20e6 };
    const world = await setUp({ bytesReceived: 40_000_000 }, { ...promised, bytes: 40_000_000 });
    await world.keeper.follow(2);
    expect(await world.theJob()).not.toHaveProperty('wasPaused');
    world.nowMs -= 3_600_000;
    await world.keeper.look();
    expect(await world.theJob()).toMatchObject({ state: 'running', wasPaused: true });
  });

  it('or a clock that is set back by an hour makes nobody wait for an hour', async () => {
    const world = await setUp(BROKEN);
    await world.keeper.follow(2);
    world.nowMs -= 3_600_000;
    await world.keeper.look();
    expect(world.calls).toHaveLength(1);
  });
});

describe('a download that the add-on holds for a moment', () => {
  it('is let go on, also by a later life of the background, and no other one that is paused', async () => {
    const world = await setUp({ paused: true }, { isHeld: true });
    await world.keeper.look();
    expect(world.downloads.log).toEqual(['resume 2']);
    await world.keeper.look();
    expect((await world.theJob())?.isHeld).toBeUndefined();
    world.downloads.change(2, { paused: true });
    await world.keeper.look();
    expect(world.downloads.log).toEqual(['resume 2']);
  });

  it('is resumed until it goes on: Chromium refuses that to one whose connection does not stand yet', async () => {
    const world = await setUp({ paused: true }, { isHeld: true });
    const { onResume } = world.downloads;
    world.downloads.onResume = () => Promise.reject(new Error('Download must be in progress'));
    await world.keeper.look();
    await sleep(world, 39);
    expect(world.nowMs - NOW_MS).toBeGreaterThan(15_000);
    expect(world.downloads.log).toHaveLength(40);
    world.downloads.onResume = onResume;
    await sleep(world, 2);
    expect(world.downloads.items.get(2)).toMatchObject({ paused: false });
    expect(await world.theJob()).toMatchObject({ isHeld: undefined });
    expect(await world.theJob()).not.toHaveProperty('wasPaused');
  });

  it('is tried again where its first byte does not come, and where it broke meanwhile', async () => {
    const silent = await setUp(BROKEN);
    await silent.keeper.follow(2);
    await silent.jobs.change('a', { isHeld: true });
    silent.downloads.change(2, { state: 'in_progress', error: undefined, paused: true });
    silent.downloads.onResume = () => Promise.reject(new Error('Download must be in progress'));
    await sleep(silent, 62);
    expect(silent.calls).toEqual(['go on at 30.25 s']);
    const broken = await setUp({ ...BROKEN, paused: true }, { isHeld: true });
    await broken.keeper.follow(2);
    await sleep(broken, 1);
    expect(broken.calls).toEqual(['go on at 0.25 s']);
  });

  it('is still held when bytes have come again, until it is seen to go on', async () => {
    const world = await setUp({ ...BROKEN, bytesReceived: 7 });
    await world.keeper.follow(2);
    world.recovered = async () => void (await world.jobs.change('a', { isHeld: true }));
    world.downloads.change(2, { state: 'in_progress', error: undefined, bytesReceived: 8 });
    await world.keeper.follow(2);
    expect(await world.theJob()).toMatchObject({ isHeld: true, interruption: undefined });
  });
});

it('remembers that the user has paused a download: its time says nothing of its way', async () => {
  const world = await setUp({ paused: true });
  await world.keeper.follow(2);
  expect(await world.theJob()).toMatchObject({ state: 'running', wasPaused: true });
});

describe('a download that the user leads elsewhere', () => {
  it('runs there, and remembers that it is direct by choice', async () => {
    const world = await setUp(BROKEN);
    await world.keeper.follow(2);
    expect(await world.keeper.lead('a', 'direct')).toBe(true);
    expect(world.calls.at(-1)).toBe('lead direct');
    expect(await world.theJob()).toMatchObject({
      state: 'running',
      choseDirect: true,
      breaks: 1,
      lastChange: { way: 'chain', chain: ['pe-1', 'rj-1'], isAsked: true },
    });
    expect((await world.theJob())?.interruption).toBeUndefined();
  });

  it('is led once, however often he asks for that before it is', async () => {
    const world = await setUp({}, { key: 'a' });
    const answer = Promise.withResolvers<GoOn>();
    world.goOn = () => answer.promise;
    const asked = [world.keeper.lead('a', 'elsewhere'), world.keeper.lead('a', 'elsewhere')];
    answer.resolve({ result: 'tried' });
    expect(await Promise.all(asked)).toEqual([true, true]);
    expect(world.calls).toEqual(['lead elsewhere']);
    await world.keeper.lead('a', 'elsewhere');
    await world.keeper.lead('a', 'direct');
    expect(world.calls).toEqual(['lead elsewhere', 'lead elsewhere', 'lead direct']);
  });

  it('stays as it is where there is no such way, and when it is whole already', async () => {
    const world = await setUp({});
    world.goOn = async () => ({ result: 'not-yet', problem: '' });
    expect(await world.keeper.lead('a', 'elsewhere')).toBe(false);
    expect((await world.theJob())?.choseDirect).toBeUndefined();
    world.downloads.change(2, { state: 'complete' });
    world.goOn = async () => ({ result: 'tried' });
    expect(await world.keeper.lead('a', 'direct')).toBe(false);
    expect(await world.keeper.lead('unknown', 'direct')).toBe(false);
  });
});
