import { describe, expect, it, test } from 'vitest';
import type { Probe } from '../ask/probe-file.ts';
import type { Download } from '../browser/download.ts';
import type { Job } from '../jobs/job.ts';
import { JobKeeper } from '../jobs/job-keeper.ts';
import { JobStore } from '../jobs/job-store.ts';
import { OWN_DEPOT_MS } from '../jobs/retry-times.ts';
import { factsOf } from '../judge/file-facts.ts';
import { download, FakeDownloads, NOW_MS } from '../testing/fake-downloads.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { order } from '../testing/order.ts';
import { location, plan } from '../testing/plan.ts';
import { seenAnswer } from '../testing/seen-answer.ts';
import { settings } from '../testing/settings.ts';
import { BesideWay, type BesideWayDependencies } from './beside-way.ts';

const FILE = factsOf(200, seenAnswer().headers);
const SAME: Probe = { result: 'file', file: FILE };
const SILENT: Probe = { result: 'silent' };
const WRONG: Probe = { result: 'refused', code: 'origin-digest-wrong' };
const BROKEN = { state: 'interrupted', error: 'NETWORK_FAILED', canResume: true } as const;

/** A Chromium whose time passes in the pauses of the add-on; `meanwhile` is what happens in each. */
function setUp(patch: Partial<BesideWayDependencies> = {}, ...items: Download[]) {
  const downloads = new FakeDownloads(...(items.length > 0 ? items : [download()]));
  const jobs = new JobStore(memoryArea());
  const question = Promise.withResolvers<void>();
  const world = {
    downloads,
    jobs,
    nowMs: NOW_MS,
    given: [] as string[],
    asked: [] as unknown[],
    ask: () => question.resolve(),
    meanwhile: async () => {},
  };
  const way = new BesideWay({
    addonId: 'longhaul',
    downloads,
    jobs,
    names: {
      isUnprompted: async () => false,
      start: (start) => downloads.start({ ...start, name: '' }),
      asked: () => question.promise,
      give: (id, name) => void world.given.push(`${id} is ${name}`),
    },
    settings: async () => settings(),
    askMaster: async (_master, request) => {
      world.asked.push(request);
      return { result: 'plan', plan: plan() };
    },
    probeFile: async () => SAME,
    deadline: () => new AbortController().signal,
    ownDepotMs: OWN_DEPOT_MS,
    now: () => world.nowMs,
    pause: async (ms) => {
      world.nowMs += ms;
      await world.meanwhile();
    },
    ...patch,
  });
  return Object.assign(world, { way });
}

/** What the depot's answer makes of the download that was started. */
const answer = (patch: Partial<Download>): Partial<Download> => ({
  finalUrl: location(),
  totalBytes: 50_000_000,
  ...patch,
});

describe('taking a download', () => {
  it('touches nothing when the browser has no room to remember it', async () => {
    const world = setUp();
    world.jobs.add = () => Promise.reject(new Error('QUOTA_BYTES quota exceeded'));
    expect(await world.way.take(order())).toEqual({ why: 'no-room' });
    expect(world.downloads.log).toEqual([]);
  });

  it('pauses the original until its successor has delivered, then ends it and passes its name on', async () => {
    const world = setUp();
    let looks = 0;
    world.meanwhile = async () => {
      looks += 1;
      if (looks === 1) {
        world.downloads.change(2, answer({ bytesReceived: 1 }));
        world.ask();
      }
      if (looks === 5) {
        expect(world.downloads.items.get(1)).toMatchObject({ state: 'in_progress', paused: true });
        world.downloads.change(2, { bytesReceived: 3_000_000 });
      }
    };
    expect(await world.way.take(order())).toBe('taken');
    expect(world.downloads.log).toEqual(['pause 1', `start ${plan().masterUrl}`, 'cancel 1', 'erase 1']);
    expect(world.given).toEqual(['2 is file.iso']);
    expect(await world.jobs.all()).toMatchObject([{ state: 'running', downloadId: 2, name: 'file.iso' }]);
  });

  it('waits for no more than the whole of a small file', async () => {
    const world = setUp();
    world.downloads.start = async () => {
      world.downloads.items.set(2, download({ id: 2, ...answer({ totalBytes: 9, bytesReceived: 9 }) }));
      world.ask();
      return 2;
    };
    expect(await world.way.take(order({ file: { ...FILE, totalBytes: 9 } }))).toBe('taken');
  });

  it('asks for the whole in one request, and for its very version, where an answer must not be kept', async () => {
    const world = setUp();
    world.meanwhile = async () => world.downloads.change(2, { state: 'interrupted', error: 'SERVER_FAILED' });
    await world.way.take(order({ inOnePiece: true }));
    expect(world.downloads.started?.headers).toEqual({
      'If-None-Match': '"longhaul-in-one-piece"',
      'If-Match': '"v1"',
    });
    await world.way.take(order({ inOnePiece: true, file: { ...FILE, etag: 'W/"v1"' } }));
    expect(Object.keys(world.downloads.started?.headers ?? {})).toEqual(['If-None-Match']);
    await world.way.take(order());
    expect(world.downloads.started?.headers).toEqual({});
  });

  it.each<[string, string, Partial<Download>]>([
    ['is refused', 'depot-refused', { state: 'interrupted', error: 'SERVER_FORBIDDEN' }],
    ['breaks', 'depot-refused', answer({ ...BROKEN, bytesReceived: 1_000_000 })],
    ['has another length', 'different-file', answer({ totalBytes: 49_999_999, bytesReceived: 3_000_000 })],
    ['was led elsewhere', 'different-file', answer({ finalUrl: 'http://192.168.1.1/', bytesReceived: 3e6 })],
    [
      'was led to the origin',
      'depot-refused',
      answer({ finalUrl: 'https://origin.example/file.iso#lh-direct', bytesReceived: 3e6 }),
    ],
    ['never gets an answer', 'depot-silent', {}],
  ])('goes on with the original where it paused when its successor %s', async (what, why, patch) => {
    const world = setUp();
    world.meanwhile = async () => {
      world.downloads.change(2, patch);
      if (what !== 'never gets an answer') world.ask();
    };
    expect(await world.way.take(order())).toMatchObject({ why });
    expect(world.downloads.log.slice(2)).toEqual(['cancel 2', 'erase 2', 'resume 1']);
    expect(world.downloads.items.get(1)).toMatchObject({ state: 'in_progress', paused: false });
    expect(await world.jobs.all()).toEqual([]);
  });

  it.each<[string, number, unknown]>([
    ['goes on with a fast original when its successor trickles', 600_000, { why: 'depot-silent' }],
    ['takes a successor that is slow, and no slower than it promised', 700_000, 'taken'],
  ])('%s for ten seconds', async (_what, bytesReceived, outcome) => {
    const planned = plan();
    const promised = (goodputBps: number) => ({ ...planned.prediction, goodputBps });
    const own = plan({ prediction: promised(1e6), direct: { ...planned.direct, ...promised(6e5) } });
    const world = setUp();
    world.meanwhile = async () => {
      world.downloads.change(2, answer({ bytesReceived }));
      world.ask();
    };
    expect(await world.way.take(order({ plan: own }))).toEqual(outcome);
    expect(world.nowMs - NOW_MS).toBeGreaterThan(10_000);
  });

  it('goes on with the original when the browser does not start another download', async () => {
    const world = setUp();
    world.downloads.refused.add(plan().masterUrl);
    expect(await world.way.take(order())).toEqual({ why: 'depot-silent' });
    expect(world.downloads.log.at(-1)).toBe('resume 1');
  });

  it('leaves a kind of file to the browser that it has forbidden before', async () => {
    const world = setUp();
    const problem = 'FILE_BLOCKED';
    const interruption = { sinceMs: NOW_MS, bytes: 0, tries: 0, nextTryAtMs: NOW_MS, problem };
    await world.jobs.add(job({ state: 'lost', name: 'other.ISO', interruption }));
    expect(await world.way.take(order())).toEqual({ why: 'warned' });
    expect(world.downloads.log).toEqual([]);
    await world.way.take(order({ original: download({ name: 'file.zip' }) }));
    expect(world.downloads.log).not.toEqual([]);
  });

  it('leaves the original to a browser that warns of it', async () => {
    const world = setUp();
    world.meanwhile = async () => world.downloads.change(1, { isWarnedOf: true });
    expect(await world.way.take(order())).toEqual({ why: 'warned' });
    expect(world.downloads.log.slice(2)).toEqual(['cancel 2', 'erase 2', 'resume 1']);
  });

  it('ends both when the user ends one of them', async () => {
    for (const id of [1, 2]) {
      const world = setUp();
      world.meanwhile = async () =>
        world.downloads.change(id, { state: 'interrupted', error: 'USER_CANCELED' });
      expect(await world.way.take(order())).toEqual({ why: 'finished' });
      expect([...world.downloads.items.keys()]).toEqual([]);
      expect(await world.jobs.all()).toEqual([]);
    }
  });

  it('is finished after a sleep in its middle: by the successor if it runs, else by the original', async () => {
    const own = answer({ id: 2, addonId: 'longhaul', bytesReceived: 3_000_000 });
    const running = setUp({}, download({ paused: true }), download(own));
    await running.jobs.add(job({ state: 'starting' }));
    await running.way.recover(job({ state: 'starting' }));
    expect(running.downloads.log).toEqual(['cancel 1', 'erase 1']);
    expect(await running.jobs.all()).toMatchObject([{ state: 'running', downloadId: 2 }]);
    const broken = setUp({}, download({ paused: true }), download({ id: 2, ...BROKEN }));
    await broken.way.recover(job({ state: 'starting' }));
    expect(broken.downloads.log).toEqual(['cancel 2', 'erase 2', 'resume 1']);
  });

  it.each<[string, Partial<Download>]>([
    ['brings nothing', { bytesReceived: 0 }],
    ['has another length', { bytesReceived: 3_000_000, totalBytes: 7 }],
    [
      'comes from somewhere else',
      { bytesReceived: 3_000_000, finalUrl: 'https://elsewhere.example/file.iso' },
    ],
  ])('goes on with the original after a sleep in its middle when the successor %s', async (_what, patch) => {
    const own = answer({ id: 2, addonId: 'longhaul', ...patch });
    const world = setUp({}, download({ paused: true, bytesReceived: 1_000 }), download(own));
    await world.jobs.add(job({ state: 'starting' }));
    await world.way.recover(job({ state: 'starting' }));
    expect(world.downloads.log).toEqual(['cancel 2', 'erase 2', 'resume 1']);
    expect(await world.jobs.all()).toEqual([]);
  });

  it.each<[string, Partial<Download> | undefined]>([
    ['was erased', undefined],
    ['was cancelled', { state: 'interrupted', error: 'USER_CANCELED' }],
  ])(
    'keeps the successor after a sleep in its very end, when the original %s already',
    async (_what, patch) => {
      const own = answer({ id: 2, addonId: 'longhaul', bytesReceived: 3_000_000, ...BROKEN });
      const world = setUp({}, ...(patch ? [download(patch)] : []), download(own));
      await world.jobs.add(job({ state: 'starting' }));
      await world.way.recover(job({ state: 'starting' }));
      expect([...world.downloads.items.keys()]).toEqual([2]);
      expect(await world.jobs.all()).toMatchObject([{ state: 'running', downloadId: 2 }]);
    },
  );

  it('holds a download so that its next life knows, should the background end meanwhile', async () => {
    const world = setUp({}, half());
    await world.jobs.add(job());
    world.downloads.pause = () => new Promise(() => undefined);
    void world.way.recovered(job(), half());
    await expect.poll(async () => (await world.jobs.all())[0]?.isHeld).toBe(true);
  });

  it("never takes yesterday's download of the same link for its own", async () => {
    const url = plan().masterUrl;
    const yesterday = { startedAtMs: NOW_MS - 86_400_000, addonId: 'longhaul' };
    const world = setUp(
      {},
      download({ paused: true }),
      download({ id: 7, url, state: 'complete', ...yesterday }),
    );
    await world.way.recover(job({ state: 'starting', downloadId: undefined }));
    expect(world.downloads.log).toEqual(['resume 1']);
  });
});

/** A job that has been interrupted for so long, with half of its file on disk. */
const interrupted = (seconds: number, patch: Partial<Job> = {}): Job =>
  job({
    interruption: {
      sinceMs: NOW_MS - seconds * 1_000,
      bytes: 25_000_000,
      tries: 1,
      nextTryAtMs: NOW_MS,
      problem: '',
    },
    ...patch,
  });
const half = (patch: Partial<Download> = {}): Download =>
  download({ id: 2, url: job().url, finalUrl: location(), ...BROKEN, bytesReceived: 25_000_000, ...patch });

describe('going on', () => {
  it('resumes when the depot has shown the next byte of the same file', async () => {
    const asked: unknown[] = [];
    const world = setUp(
      {
        probeFile: async (place, _signal, atByte) => {
          asked.push([place, atByte]);
          return SAME;
        },
      },
      half(),
    );
    expect(await world.way.goOn(interrupted(1), half())).toEqual({ result: 'tried' });
    expect(asked).toEqual([[location(), 25_000_000]]);
    // The second time gives the browser its five resumptions back, before the next break.
    expect(world.downloads.log).toEqual(['resume 2', 'pause 2', 'resume 2']);
  });

  it.each<[string, Probe]>([
    ['does not answer', SILENT],
    [
      'refuses, which would make the browser drop the bytes',
      { result: 'refused', code: 'origin-unavailable' },
    ],
    ['has another version', { result: 'file', file: { ...FILE, etag: '"v2"' } }],
  ])('leaves everything as it is while the depot %s', async (_what, probe) => {
    const world = setUp({ probeFile: async () => probe }, half());
    const went = await world.way.goOn(interrupted(4), half());
    expect(went.result).toBe('not-yet');
    expect(world.downloads.log).toEqual([]);
    expect(world.asked).toEqual([]);
  });

  it('resumes at a depot that knows another version as wrong, and so refuses who names none', async () => {
    const asked: unknown[] = [];
    const world = setUp(
      {
        probeFile: async (_place, _signal, _atByte, version) => {
          asked.push(version);
          return version ? SAME : WRONG;
        },
      },
      half(),
    );
    expect(await world.way.goOn(interrupted(1), half())).toEqual({ result: 'tried' });
    expect(asked).toEqual([undefined, { 'if-match': FILE.etag }]);
    expect(world.downloads.log[0]).toBe('resume 2');
  });

  it("hands on the depot's sentence", async () => {
    const world = setUp({ probeFile: async () => ({ result: 'refused', code: 'origin-busy' }) }, half());
    expect(await world.way.goOn(interrupted(1), half())).toMatchObject({
      problem: expect.stringMatching(/\(origin-busy\)$/),
    });
  });

  it('says nothing against a depot that has the file, while the download from it hangs', async () => {
    const hanging = half({ state: 'in_progress', error: undefined });
    const world = setUp({}, hanging);
    expect(await world.way.goOn(interrupted(1), hanging)).toEqual({ result: 'not-yet', problem: '' });
    expect(world.downloads.log).toEqual([]);
  });

  it('wants a click when the browser says yes and resumes nothing', async () => {
    const world = setUp({}, half());
    world.downloads.onResume = async () => undefined;
    expect(await world.way.goOn(interrupted(1), half())).toEqual({ result: 'click' });
  });

  it('gives the browser its five resumptions back once bytes come', async () => {
    const world = setUp({}, half({ state: 'in_progress' }));
    await world.way.recovered(job(), half());
    expect(world.downloads.log).toEqual(['pause 2', 'resume 2']);
  });

  it('leaves a download held whose connection did not stand yet, so that the next look resumes it again', async () => {
    const world = setUp({}, half());
    await world.jobs.add(interrupted(1));
    world.downloads.onResume = async (id) => {
      const isStopped = world.downloads.items.get(id)?.state === 'interrupted';
      if (isStopped) world.downloads.change(id, { state: 'in_progress', error: undefined });
    };
    expect(await world.way.goOn(interrupted(1), half())).toEqual({ result: 'tried' });
    expect(world.downloads.items.get(2)).toMatchObject({ state: 'in_progress', paused: true });
    expect(await world.jobs.get('a')).toMatchObject({ isHeld: true });
  });
});

describe('a download that is whole and is not the file', () => {
  const other = download({ id: 2, state: 'complete', totalBytes: 73, bytesReceived: 73 });

  it('goes as soon as the file is there again, which has its name then', async () => {
    const world = setUp({}, other);
    await world.jobs.add(interrupted(1));
    const went = await world.way.goOn(interrupted(1), other);
    expect(world.downloads.log).toEqual([`start ${plan().masterUrl}`, 'remove 2', 'erase 2']);
    expect(world.given).toEqual(['3 is file.iso']);
    expect(went).toMatchObject({ result: 'moved', patch: { downloadId: 3, bytes: 0, restarts: 1 } });
  });

  it('stays while nobody shows the file, and where the site has it as its new version', async () => {
    const silent = setUp({ probeFile: async () => SILENT }, other);
    expect(await silent.way.goOn(interrupted(1), other)).toEqual({ result: 'not-yet', problem: '' });
    const file = { ...FILE, totalBytes: 73, etag: '"v2"' };
    const anew = setUp({ probeFile: async () => ({ result: 'file', file }) }, other);
    expect(await anew.way.goOn(interrupted(1), other)).toMatchObject({ result: 'moved', patch: { file } });
    const third = setUp(
      { probeFile: async () => ({ result: 'file', file: { ...file, totalBytes: 9 } }) },
      other,
    );
    expect(await third.way.goOn(interrupted(1), other)).toEqual({
      result: 'not-yet',
      problem: 'other version',
    });
    for (const world of [silent, anew, third]) expect(world.downloads.log).toEqual([]);
  });

  it('goes where the bytes of before still stand beside it', async () => {
    const { interruption } = interrupted(1);
    const spare = { downloadId: 1, bytes: 9, url: job().url, way: 'chain', chain: [], interruption } as const;
    const world = setUp({}, download(), other);
    await world.jobs.add(interrupted(1, { spare }));
    const went = await world.way.goOn(interrupted(1, { spare }), other);
    expect(world.downloads.log).toEqual(['remove 2', 'erase 2', 'cancel 2', 'erase 2']);
    expect(went).toMatchObject({ result: 'moved', patch: { downloadId: 1, spare: undefined } });
  });
});

describe('starting again', () => {
  /** The old depot is silent, new ones are not. */
  const newDepot: Partial<BesideWayDependencies> = {
    probeFile: async (_place, _signal, atByte) => (atByte === 0 ? SAME : SILENT),
  };

  it('happens through other depots when that is the better end, beside what is on disk', async () => {
    const world = setUp(newDepot, half());
    await world.jobs.add(interrupted(20));
    const went = await world.way.goOn(interrupted(20), half());
    expect(world.asked).toEqual([
      { url: 'https://origin.example/file.iso', avoid: ['pe-1'], sizeBytes: 50_000_000 },
    ]);
    expect(world.downloads.log).toEqual([`start ${plan().masterUrl}`]);
    expect(world.given).toEqual(['3 is file.iso']);
    expect(went).toMatchObject({
      result: 'moved',
      patch: {
        state: 'running',
        downloadId: 3,
        restarts: 1,
        bytes: 0,
        spare: { downloadId: 2, bytes: 25_000_000, url: job().url },
      },
    });
  });

  it('does not happen while waiting has cost less than the bytes on disk would once more', async () => {
    const slow = { predictedSeconds: 600, directSeconds: 6_000 };
    const world = setUp(newDepot, half());
    expect(await world.way.goOn(interrupted(299, slow), half())).toMatchObject({ result: 'not-yet' });
    expect(world.asked).toEqual([]);
  });

  it('happens directly where the master knows no chain, and then only when that is worth it', async () => {
    const noMaster: Partial<BesideWayDependencies> = {
      probeFile: async (place) => (place === job().originUrl ? SAME : SILENT),
      askMaster: async () => ({ result: 'silent' }),
    };
    const early = setUp(noMaster, half());
    expect(await early.way.goOn(interrupted(24), half())).toMatchObject({ result: 'not-yet' });
    expect(early.downloads.log).toEqual([]);
    const late = setUp(noMaster, half());
    expect(await late.way.goOn(interrupted(25), half())).toMatchObject({ patch: { way: 'direct' } });
    expect(late.downloads.log).toEqual(['start https://origin.example/file.iso#lh-direct']);
  });

  it('waits for somebody who has the file, as while the network is away', async () => {
    const away: Partial<BesideWayDependencies> = {
      probeFile: async () => SILENT,
      askMaster: async () => ({ result: 'silent' }),
    };
    for (const old of [half(), half({ canResume: false, bytesReceived: 0 })]) {
      const world = setUp(away, old);
      expect(await world.way.goOn(interrupted(3_600), old)).toEqual({ result: 'not-yet', problem: '' });
      expect(world.downloads.log).toEqual([]);
    }
  });

  it('is taken back when the new download breaks before it has delivered more', async () => {
    const old = { downloadId: 2, bytes: 25_000_000, url: job().url, way: 'chain', chain: ['x'] } as const;
    const spare = { ...old, interruption: interrupted(3_600).interruption };
    const fresh = half({ id: 3, bytesReceived: 100 });
    const world = setUp(newDepot, half(), fresh);
    const moved = interrupted(1, { downloadId: 3, spare, restarts: 1 });
    await world.jobs.add(moved);
    expect(await world.way.goOn(moved, fresh)).toMatchObject({
      result: 'moved',
      patch: {
        ...old,
        spare: undefined,
        state: 'waiting',
        interruption: { sinceMs: NOW_MS - 3_600_000, nextTryAtMs: NOW_MS + 4_000 },
      },
    });
    expect(world.downloads.log).toEqual(['cancel 3', 'erase 3']);
  });

  it('is taken back to what the add-on had paused itself as to that: the next look lets it go on', async () => {
    const hanging = half({ state: 'in_progress', error: undefined, paused: true });
    const world = setUp(newDepot, hanging);
    const held = interrupted(20, { isHeld: true });
    await world.jobs.add(held);
    await world.way.goOn(held, hanging);
    const fresh = await world.jobs.get('a');
    expect(fresh).toMatchObject({ downloadId: 3, isHeld: undefined });
    await world.way.goOn(fresh as Job, half({ id: 3 }));
    expect(await world.jobs.get('a')).toMatchObject({ downloadId: 2, isHeld: true });
  });

  const spare = { ...interrupted(3_600), downloadId: 2, bytes: 9 };
  /** Download 3, which has begun beside it. */
  const moved = interrupted(1, { downloadId: 3, spare, restarts: 1 });

  it('goes on with what is new where the user has taken away what stood beside it', async () => {
    const fresh = half({ id: 3, bytesReceived: 100 });
    const ended = half({ state: 'interrupted', error: 'USER_CANCELED' });
    for (const items of [[fresh], [ended, fresh]]) {
      const world = setUp({}, ...items);
      await world.jobs.add(moved);
      expect(await world.way.goOn(moved, fresh)).toEqual({ result: 'tried' });
      expect(world.downloads.log.slice(0, 1)).toEqual(['resume 3']);
      expect(world.downloads.items.get(3)).toMatchObject({ state: 'in_progress' });
    }
  });

  it('is taken back, for good, where there is no room on the disk for both', async () => {
    const full = half({ id: 3, error: 'FILE_NO_SPACE' });
    const world = setUp(newDepot, half(), full);
    await world.jobs.add(moved);
    const went = await world.way.goOn(moved, full);
    expect(went).toMatchObject({ result: 'moved', patch: { downloadId: 2, spare: undefined, restarts: 3 } });
    expect(world.downloads.log).toEqual(['cancel 3', 'erase 3']);
    const alone = setUp(newDepot, full);
    expect(await alone.way.goOn(interrupted(1, { downloadId: 3 }), full)).toMatchObject({
      result: 'not-yet',
    });
    expect(alone.downloads.log).toEqual([]);
  });

  it('comes from the site, of which no master is told, where the add-on is off by now', async () => {
    const world = setUp({ ...newDepot, settings: async () => settings({ enabled: false }) }, half());
    await world.jobs.add(interrupted(20));
    expect(await world.way.goOn(interrupted(3_600), half())).toMatchObject({
      result: 'moved',
      patch: { way: 'direct' },
    });
    expect(world.asked).toEqual([]);
  });

  it('happens at once when the browser has dropped the bytes itself, but not for ever', async () => {
    const dropped = half({ canResume: false, bytesReceived: 0 });
    const world = setUp(newDepot, dropped);
    await world.jobs.add(interrupted(1));
    expect(await world.way.goOn(interrupted(1), dropped)).toMatchObject({ result: 'moved' });
    const often = interrupted(1, { restarts: 3 });
    expect(await world.way.goOn(often, dropped)).toMatchObject({ result: 'lost' });
  });
});

describe('a file that its depot has found not to be what the origin states', () => {
  const DIRECT = 'start https://origin.example/file.iso#lh-direct';
  /** Nobody but its own depot refuses it, and all have this. */
  const wrongAt = (file = FILE): Partial<BesideWayDependencies> => ({
    probeFile: async (_place, _signal, atByte) => (atByte ? WRONG : { result: 'file', file }),
  });

  it.each<[number, string, Partial<Job>]>([
    [0, `start ${plan().masterUrl}`, { way: 'chain' }],
    [1, DIRECT, { way: 'direct' }],
    [2, DIRECT, { way: 'direct' }],
    [3, DIRECT, { way: 'direct' }],
  ])(
    'begins anew at once, in its place, and comes from the origin where it has done so: after %i times',
    async (restarts, start, way) => {
      const world = setUp(wrongAt(), half());
      const wrong = interrupted(0, { restarts });
      await world.jobs.add(wrong);
      expect(await world.way.goOn(wrong, half())).toMatchObject({
        result: 'moved',
        patch: { ...way, downloadId: 3, bytes: 0, restarts: restarts + 1, spare: undefined },
      });
      expect(world.downloads.log).toEqual([start, 'cancel 2', 'erase 2']);
      expect(world.given).toEqual(['3 is file.iso']);
      expect(world.asked).toMatchObject(restarts > 0 ? [] : [{ avoid: ['pe-1', 'rj-1'] }]);
    },
  );

  it('comes from the origin alone from then on', async () => {
    const world = setUp(wrongAt(), half());
    await world.jobs.add(interrupted(0, { restarts: 1 }));
    await world.way.goOn(interrupted(0, { restarts: 1 }), half());
    const direct = await world.jobs.get('a');
    const { interruption } = interrupted(3_600);
    world.downloads.log.length = 0;
    const gone = half({ id: 3, canResume: false, bytesReceived: 0 });
    world.downloads.items.set(3, gone);
    expect(await world.way.goOn({ ...(direct as Job), interruption }, gone)).toMatchObject({
      result: 'moved',
    });
    expect(world.downloads.log).toEqual([DIRECT]);
    expect(world.asked).toEqual([]);
  });

  it('comes as the version that is there by now, and is asked for by that', async () => {
    for (const restarts of [0, 1]) {
      const file = { ...FILE, etag: '"v2"' };
      const world = setUp(wrongAt(file), half());
      const wrong = interrupted(0, { restarts, inOnePiece: true });
      await world.jobs.add(wrong);
      expect(await world.way.goOn(wrong, half())).toMatchObject({ result: 'moved', patch: { file } });
      expect(world.downloads.started?.headers).toMatchObject({ 'If-Match': '"v2"' });
    }
  });

  it.each<[string, Partial<Job>, Partial<BesideWayDependencies>, string]>([
    ['nobody has it', {}, { probeFile: async (_place, _signal, atByte) => (atByte ? WRONG : SILENT) }, ''],
    ['it is the origin that says so', { way: 'direct' }, wrongAt(), 'origin-digest-wrong'],
    ['its user was asked where it goes', { wasAsked: true }, wrongAt(), 'origin-digest-wrong'],
  ])('stays while %s', async (_why, patch, dependencies, problem) => {
    const world = setUp(dependencies, half());
    expect(await world.way.goOn(interrupted(0, patch), half())).toEqual({
      result: 'not-yet',
      problem: expect.stringContaining(problem),
    });
    expect(world.downloads.log).toEqual([]);
  });

  it('stays as the user has left it while others were asked', async () => {
    const world = setUp({}, half());
    const { way } = setUp({
      downloads: world.downloads,
      probeFile: async (_place, _signal, atByte) => {
        world.downloads.change(2, { error: 'USER_CANCELED' });
        return atByte ? WRONG : SAME;
      },
    });
    expect(await way.goOn(interrupted(0), half())).toEqual({ result: 'not-yet', problem: '' });
    expect(world.downloads.log).toEqual([]);
  });
});

describe('leaving a slow chain', () => {
  const running = download({ id: 2, bytesReceived: 10_000_000, addonId: 'longhaul' });
  const slow = job({ promisedBps: 80e6, directBps: 20e6 });

  it('starts beside it, while it pauses, what ends in half of the time left, and leaves it for that', async () => {
    const world = setUp({}, running);
    await world.jobs.add(slow);
    world.meanwhile = async () => {
      expect(world.downloads.items.get(2)).toMatchObject({ paused: true });
      expect(await world.jobs.get('a')).toMatchObject({
        downloadId: 3,
        spare: { downloadId: 2, bytes: 10_000_000 },
      });
      expect(world.given).toEqual([]);
      world.downloads.change(3, { bytesReceived: 10_000_001 });
    };
    const patch = await world.way.change(slow, running, 20);
    expect(world.asked).toMatchObject([{ avoid: ['pe-1', 'rj-1'] }]);
    expect(world.downloads.log).toEqual(['pause 2', `start ${plan().masterUrl}`, 'cancel 2', 'erase 2']);
    expect(patch).toMatchObject({ downloadId: 3, bytes: 0, restarts: 1, spare: undefined });
    expect(world.given).toEqual(['3 is file.iso']);
  });

  it('leaves it within ten seconds, with what has come, when the rest comes in half of the time left', async () => {
    const world = setUp({}, running);
    world.meanwhile = async () => world.downloads.change(3, { bytesReceived: 9_000_000 });
    expect(await world.way.change(slow, running, 1_000)).toMatchObject({ downloadId: 3 });
    expect(world.nowMs - NOW_MS).toBe(10_000);
  });

  it.each<[string, Partial<Download>]>([
    ['paused', { paused: true }],
    ['cancelled', { state: 'interrupted', error: 'USER_CANCELED' }],
  ])('starts nothing beside what the user has %s while others were asked', async (_what, done) => {
    const world = setUp({}, running);
    const way = setUp(
      {
        downloads: world.downloads,
        probeFile: async () => {
          world.downloads.change(2, done);
          return SAME;
        },
      },
      running,
    ).way;
    expect(await way.change(slow, running, 1_000)).toBeUndefined();
    expect(await way.lead(slow, running, 'elsewhere')).toEqual({ result: 'not-yet', problem: '' });
    expect(world.downloads.log).toEqual([]);
  });

  it('tells from what finds nothing better that nobody answers, neither the master nor the origin', async () => {
    const world = setUp(
      { askMaster: async () => ({ result: 'silent' }), probeFile: async () => SILENT },
      running,
    );
    expect(await world.way.change(slow, running, 1_000)).toBe('nobody');
    expect(world.downloads.log).toEqual([]);
  });

  it('gives no byte up for what ends later than that, or does not have the file', async () => {
    const world = setUp({}, running);
    expect(await world.way.change(slow, running, 19)).toBeUndefined();
    const nowhere = setUp({ probeFile: async () => SILENT }, running);
    expect(await nowhere.way.change(slow, running, 1_000)).toBeUndefined();
    const boundless = { ...slow, file: { ...FILE, totalBytes: undefined } };
    expect(await world.way.change(boundless, running, 1_000)).toBeUndefined();
    expect([...world.downloads.log, ...nowhere.downloads.log]).toEqual([]);
  });

  it.each<[string, Partial<Download>]>([
    ['is as slow', { bytesReceived: 100_000 }],
    ['says nothing', {}],
    ['breaks', BROKEN],
  ])('goes on with it where it paused when the other one %s', async (_what, patch) => {
    const world = setUp({}, running);
    await world.jobs.add(slow);
    world.meanwhile = async () => world.downloads.change(3, patch);
    expect(await world.way.change(slow, running, 1_000)).toBeUndefined();
    expect(world.downloads.log.slice(2)).toEqual(['cancel 3', 'erase 3', 'resume 2']);
    expect(await world.jobs.get('a')).toMatchObject({
      downloadId: 2,
      state: 'running',
      url: slow.url,
      chain: slow.chain,
    });
  });
});

test('a slow download that is copied where there is no room for both is not copied again', async () => {
  const running = download({ id: 2, bytesReceived: 10_000_000, addonId: 'longhaul' });
  const slow = job({ promisedBps: 80e6, directBps: 20e6 });
  const world = setUp({}, running);
  await world.jobs.add(slow);
  world.meanwhile = async () => world.downloads.change(3, { ...BROKEN, error: 'FILE_NO_SPACE' });
  expect(await world.way.change(slow, running, 1_000)).toBeUndefined();
  expect(await world.jobs.get('a')).toMatchObject({ downloadId: 2, restarts: 3 });
});

test('a slow download that the user ends while another one is tried does not take that along', async () => {
  const running = download({ id: 2, bytesReceived: 10_000_000, addonId: 'longhaul' });
  const slow = job({ promisedBps: 80e6, directBps: 20e6 });
  const world = setUp({}, running);
  await world.jobs.add(slow);
  world.meanwhile = async () => {
    world.downloads.change(3, { bytesReceived: 100_000 });
    world.downloads.change(2, { state: 'interrupted', error: 'USER_CANCELED' });
  };
  expect(await world.way.change(slow, running, 1_000)).toMatchObject({ downloadId: 3, spare: undefined });
  expect(world.downloads.items.get(3)).toMatchObject({ state: 'in_progress' });
});

test.each<[string, (downloads: FakeDownloads) => void]>([
  ['ends', (downloads) => downloads.change(3, { state: 'interrupted', error: 'USER_CANCELED' })],
  ['removes', (downloads) => downloads.items.delete(3)],
])('a download that is tried beside a slow one takes that along when the user %s it', async (_what, end) => {
  const running = download({ id: 2, bytesReceived: 10_000_000, addonId: 'longhaul' });
  const slow = job({ promisedBps: 80e6, directBps: 20e6 });
  const world = setUp({}, running);
  const { downloads, jobs, way } = world;
  await jobs.add(slow);
  world.meanwhile = async () => end(downloads);
  expect(await way.change(slow, running, 1_000)).toBeUndefined();
  const now = () => world.nowMs;
  const keeper = new JobKeeper({ downloads, jobs, continuation: way, now, wakeAt: () => undefined });
  await (downloads.items.has(3) ? keeper.follow(3) : keeper.erased(3));
  expect(downloads.items.has(2)).toBe(false);
  expect(downloads.log).not.toContain('resume 2');
  expect(await jobs.all()).toEqual([]);
  expect(world.given, 'the browser waits for no name').toEqual(['3 is ']);
});

describe('one that was diverted, and whose user was asked where it goes', () => {
  const running = download({ id: 2, bytesReceived: 10_000_000, addonId: 'longhaul' });
  const dropped = half({ canResume: false, bytesReceived: 0 });

  /** A browser with a download that was adopted, and its job as it is then. */
  async function setUpAdopted(item: Download, patch: Partial<BesideWayDependencies> = {}) {
    const world = setUp(
      { probeFile: async (_place, _signal, atByte) => (atByte ? SILENT : SAME), ...patch },
      item,
    );
    const before = interrupted(3_600, { promisedBps: 80e6, directBps: 20e6 });
    await world.jobs.add(before);
    await world.way.adopt(before);
    const adopted = (await world.jobs.get('a')) ?? before;
    return Object.assign(world, { adopted });
  }

  it.each<[string, Download, (way: BesideWay, adopted: Job) => Promise<unknown>, unknown]>([
    ['it is slow', running, (way, adopted) => way.change(adopted, running, 1_000), undefined],
    ['its depot stays away', half(), (way, adopted) => way.goOn(adopted, half()), 'not-yet'],
    ['its bytes are dropped', dropped, (way, adopted) => way.goOn(adopted, dropped), 'lost'],
    ['another way is wanted', half(), (way, adopted) => way.lead(adopted, half(), 'direct'), 'not-yet'],
  ])('stays where he chose: nothing starts elsewhere when %s', async (_when, item, act, result) => {
    const { adopted, downloads, way } = await setUpAdopted(item);
    expect(await act(way, adopted)).toEqual(result && expect.objectContaining({ result }));
    expect(downloads.log).toEqual([]);
  });

  it('resumes as all do', async () => {
    const { adopted, downloads, way } = await setUpAdopted(half(), { probeFile: async () => SAME });
    expect(await way.goOn(adopted, half())).toEqual({ result: 'tried' });
    expect(downloads.log[0]).toBe('resume 2');
  });
});

test('one that was diverted, and whose user was not asked, is a job as all are', async () => {
  const names = { start: async () => 3, asked: async () => undefined, give: () => undefined };
  const world = setUp({ names: { ...names, isUnprompted: async () => true } }, half());
  await world.jobs.add(interrupted(3_600));
  await world.way.adopt(interrupted(3_600));
  expect(await world.jobs.all()).toEqual([interrupted(3_600)]);
});

describe('led elsewhere by the user', () => {
  it('ends what runs once the new download delivers, and only then takes its name', async () => {
    const old = half({ state: 'in_progress', error: undefined });
    const world = setUp({}, old);
    await world.jobs.add(job());
    const delivered = { bytesReceived: 3_000_000, totalBytes: 50_000_000 };
    world.ask();
    world.meanwhile = async () => world.downloads.change(3, delivered);
    expect(await world.way.lead(job(), old, 'direct')).toMatchObject({
      result: 'moved',
      patch: { way: 'direct', chain: [], downloadId: 3, bytes: 0 },
    });
    expect(world.downloads.log).toEqual([
      'start https://origin.example/file.iso#lh-direct',
      'cancel 2',
      'erase 2',
    ]);
    expect(world.given).toEqual(['3 is file.iso']);
  });

  it('leaves what runs alone when the new download does not deliver', async () => {
    const old = half({ state: 'in_progress', error: undefined });
    const world = setUp({}, old);
    await world.jobs.add(job());
    world.meanwhile = async () =>
      world.downloads.change(3, { state: 'interrupted', error: 'NETWORK_FAILED' });
    expect(await world.way.lead(job(), old, 'direct')).toMatchObject({ result: 'not-yet' });
    expect(world.downloads.log).toEqual([
      'start https://origin.example/file.iso#lh-direct',
      'cancel 3',
      'erase 3',
    ]);
  });

  it('starts beside what waits, which stands until the new download has more', async () => {
    const world = setUp({}, half());
    await world.jobs.add(job());
    expect(await world.way.lead(job(), half(), 'direct')).toMatchObject({
      patch: { way: 'direct', downloadId: 3, spare: { downloadId: 2, bytes: 25_000_000 } },
    });
  });

  it('asks for depots that are not in its chain, then for another entry depot', async () => {
    const none: Partial<BesideWayDependencies> = {
      askMaster: async (_master, request) => {
        world.asked.push(request);
        return { result: 'plan', plan: plan({ decision: 'direct' }) };
      },
    };
    const world = setUp(none, half());
    expect(await world.way.lead(job(), half(), 'elsewhere')).toMatchObject({ result: 'not-yet' });
    expect(world.asked).toMatchObject([{ avoid: ['pe-1', 'rj-1'] }, { avoid: ['pe-1'] }]);
    expect(world.downloads.log).toEqual([]);
  });

  it('goes on where it is when the user resumes it himself while others are asked', async () => {
    const world = setUp({}, half());
    const { downloads } = world;
    const { way } = setUp({
      downloads,
      probeFile: async () => {
        downloads.change(2, { state: 'in_progress', error: undefined });
        return SAME;
      },
    });
    expect(await way.lead(job(), half(), 'direct')).toEqual({ result: 'not-yet', problem: '' });
    expect(downloads.log).toEqual([]);
  });

  it('changes nothing where the site does not have this version of the file', async () => {
    const world = setUp({ probeFile: async () => SILENT }, half());
    expect(await world.way.lead(job(), half(), 'direct')).toMatchObject({ result: 'not-yet' });
    expect(world.downloads.log).toEqual([]);
  });

  it('starts a link under the name that it is given, with nothing beside it', async () => {
    const world = setUp({});
    const { original: _original, inOnePiece: _inOnePiece, ...link } = order();
    expect(await world.way.begin({ ...link, name: 'chosen.iso' })).toBe('taken');
    expect(world.downloads.log).toEqual([`start ${plan().masterUrl}`]);
    expect(world.given).toEqual([expect.stringMatching(/is chosen\.iso$/)]);
    expect(await world.jobs.all()).toMatchObject([{ state: 'running', name: 'chosen.iso' }]);
  });
});
