import { describe, expect, it } from 'vitest';
import type { PlanReply } from '../ask/ask-master.ts';
import type { Probe } from '../ask/probe-file.ts';
import type { Download } from '../browser/download.ts';
import type { Job } from '../jobs/job.ts';
import { JobStore } from '../jobs/job-store.ts';
import { factsOf } from '../judge/file-facts.ts';
import type { Settings } from '../settings/settings.ts';
import { download, FakeDownloads, NOW_MS } from '../testing/fake-downloads.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { order } from '../testing/order.ts';
import { location, plan } from '../testing/plan.ts';
import { seenAnswer } from '../testing/seen-answer.ts';
import { settings } from '../testing/settings.ts';
import type { SeenAnswer } from '../watch/seen-answers.ts';
import { LedWay } from './led-way.ts';

const ORIGIN = 'https://origin.example/file.iso';
const LEAD = `lead ${ORIGIN} to ${plan().masterUrl}`;
const DIRECT = `start ${ORIGIN}#lh-direct as file.iso`;
const FILE = factsOf(200, seenAnswer().headers);
/** Where a depot is that has begun a download. */
const BEGUN = 'https://pe-1.example/begun';
const WRONG: Probe = { result: 'refused', code: 'origin-digest-wrong' };
const SAME: Probe = { result: 'file', file: FILE };
const SILENT: Probe = { result: 'silent' };
const ledJob = (patch: Partial<Job> = {}) => job({ url: ORIGIN, ...patch });

/** What is asked before the browser resumes, and what comes of it: all have the file where a test says nothing. */
interface Answers {
  readonly chain?: Probe;
  /** What depots say to who names a version. */
  readonly named?: Probe;
  /** What the depot says that has begun it. */
  readonly begun?: Probe;
  readonly origin?: Probe;
  readonly master?: PlanReply;
  /** Who is at the entry depot's address. */
  readonly there?: string | undefined;
  readonly whileProbed?: () => void;
  /** What the user has changed. */
  readonly settings?: Partial<Settings>;
}

/**
 * What the browser sees of a download's first answer; of several, one after the other; `undefined` where its
 * connection breaks.
 */
type Seen = SeenAnswer | 'no answer' | undefined;

/** The file as a depot gives it. */
const depotsAnswer = (patch: Partial<SeenAnswer> = {}, headers: Readonly<Record<string, string>> = {}) =>
  seenAnswer(patch, { 'longhaul-depot': 'd1', ...headers });

function setUp(answer: Seen | readonly Seen[], ...items: Download[]) {
  return setUpWith({}, answer, ...items);
}

function setUpWith(answers: Answers, answer: Seen | readonly Seen[], ...items: Download[]) {
  const seen = [answer].flat();
  let starts = 0;
  const downloads = new FakeDownloads(...(items.length > 0 ? items : [download()]));
  const jobs = new JobStore(memoryArea());
  const { log } = downloads;
  const probed: unknown[] = [];
  const avoided: unknown[] = [];
  const way = new LedWay({
    addonId: 'longhaul',
    downloads,
    jobs,
    leadRules: {
      lead: async ({ from, to }) => void log.push(`lead ${from} to ${to}`),
      release: async () => void log.push('release'),
    },
    answers: {
      nextOwnAnswer: async () => {
        const now = seen[Math.min(starts, seen.length - 1)];
        starts += 1;
        return now === 'no answer' ? new Promise(() => undefined) : now;
      },
    },
    settings: async () => settings(answers.settings),
    askMaster: async (_master, { avoid }) => {
      avoided.push(avoid);
      return answers.master ?? { result: 'plan', plan: plan() };
    },
    probeFile: async (place, _signal, atByte, version) => {
      probed.push([place, atByte, ...(version ? [version] : [])]);
      answers.whileProbed?.();
      const { begun, chain, named = chain, origin } = answers;
      return (place === ORIGIN ? origin : place === BEGUN ? begun : version ? named : chain) ?? SAME;
    },
    whoIsAt: async () => answers.there,
    deadline: () => new AbortController().signal,
    now: () => NOW_MS,
    pause: async () => undefined,
  });
  return { downloads, jobs, log, probed, avoided, way };
}

describe('taking a download', () => {
  it('touches nothing when the browser has no room to remember it', async () => {
    const world = setUp(undefined);
    world.jobs.add = () => Promise.reject(new Error('QUOTA_BYTES quota exceeded'));
    expect(await world.way.take(order())).toEqual({ why: 'no-room' });
    expect(world.downloads.log).toEqual([]);
  });

  it("leads the origin's own address to the master, and downloads it under the original's name", async () => {
    const { jobs, log, way } = setUp(depotsAnswer({ isFromTab: false }));
    expect(await way.take(order())).toBe('taken');
    expect(log).toEqual([LEAD, 'cancel 1', 'erase 1', `start ${ORIGIN} as file.iso`]);
    expect(await jobs.all()).toMatchObject([{ state: 'running', downloadId: 1, url: ORIGIN }]);
  });

  it('gives each of two that begin at once a rule of its own', async () => {
    const { jobs, way } = setUp(depotsAnswer({ isFromTab: false }), download(), download({ id: 2 }));
    await Promise.all([way.take(order()), way.take(order())]);
    const rules = (await jobs.all()).map(({ leadRuleId }) => leadRuleId);
    expect(new Set(rules).size).toBe(2);
  });

  it.each<[string, Seen, string]>([
    ['refuses', depotsAnswer({ status: 403 }, { 'longhaul-error': 'origin-needs-login' }), 'depot-refused'],
    ['gives another version', depotsAnswer({}, { etag: '"v2"' }), 'different-file'],
    ['gives another length', depotsAnswer({}, { 'content-length': '1' }), 'different-file'],
    ['does not answer', 'no answer', 'depot-silent'],
  ])('goes back to the origin, as the page would ask it, when the depot %s', async (_what, answer, why) => {
    const { downloads, jobs, log, way } = setUp(answer);
    expect(await way.take(order())).toMatchObject({ why });
    expect(log.slice(4)).toEqual(['release', 'cancel 1', 'erase 1', DIRECT]);
    expect(downloads.started?.headers).toEqual({ Referer: 'https://page.example/' });
    expect(await jobs.all()).toEqual([]);
  });

  it("keeps what the origin itself gives, to which a depot has led, as no depot's", async () => {
    const { jobs, log, way } = setUp(seenAnswer());
    expect(await way.take(order())).toBe('taken');
    expect(await jobs.all()).toMatchObject([{ state: 'running', way: 'direct', chain: [] }]);
    expect(log.at(-1)).toBe('release');
  });

  it('starts again where the connection breaks before an answer, three times at most', async () => {
    const START = `start ${ORIGIN} as file.iso`;
    const { jobs, log, way } = setUp([undefined, depotsAnswer()]);
    expect(await way.take(order())).toBe('taken');
    expect(log.slice(3)).toEqual([START, 'cancel 1', 'erase 1', START]);
    expect(await jobs.all()).toMatchObject([{ state: 'running', downloadId: 1 }]);
    const broken = setUp(undefined);
    expect(await broken.way.take(order())).toEqual({ why: 'depot-silent' });
    const dropped = ['cancel 1', 'erase 1'];
    const again = [START, ...dropped];
    const last = [START, 'release', ...dropped, DIRECT];
    expect(broken.log.slice(3)).toEqual([...again, ...again, ...again, ...last]);
  });

  it('begins nothing again, here or at the origin, that the user has cancelled before the answer', async () => {
    const { downloads, jobs, log, way } = setUp(undefined);
    const start = downloads.start.bind(downloads);
    downloads.start = async (order) => {
      const id = await start(order);
      downloads.change(id, { state: 'interrupted', error: 'USER_CANCELED' });
      return id;
    };
    expect(await way.take(order())).toEqual({ why: 'finished' });
    expect(log.slice(3)).toEqual([`start ${ORIGIN} as file.iso`, 'release']);
    expect(await jobs.all()).toEqual([]);
  });

  it('leaves nothing under the name of the file where a refusal, which Firefox saves as the file, is there as a whole', async () => {
    const { downloads, log, way } = setUp(depotsAnswer({ status: 403 }));
    const start = downloads.start.bind(downloads);
    downloads.start = async (order) => {
      const id = await start(order);
      downloads.change(id, { state: 'complete' });
      return id;
    };
    await way.take(order());
    expect(log.slice(4)).toEqual(['release', 'cancel 1', 'remove 1', 'erase 1', DIRECT]);
  });

  it('outlives the browser where it looks at the answer, or at the length of what came, and no other download does', async () => {
    const { downloads, way } = setUp(depotsAnswer());
    await way.take(order());
    expect(downloads.started?.outlives).toBe(true);
    const refused = setUp(depotsAnswer({ status: 403 }));
    await refused.way.take(order());
    expect(refused.downloads.started?.outlives).toBeUndefined();
    const gone = download({ id: 2, state: 'interrupted', canResume: false });
    for (const totalBytes of [FILE.totalBytes, undefined]) {
      const again = setUpWith({ chain: { result: 'file', file: { ...FILE, totalBytes } } }, undefined, gone);
      await again.way.goOn(ledJob({ file: { ...FILE, totalBytes } }), gone);
      expect(again.downloads.started?.outlives).toBe(totalBytes !== undefined);
    }
  });

  it('keeps a file that finishes in the very moment of the replacement', async () => {
    const { downloads, jobs, log, way } = setUp(depotsAnswer());
    downloads.cancel = async () => downloads.change(1, { state: 'complete' });
    expect(await way.take(order())).toEqual({ why: 'finished' });
    expect(log).toEqual([LEAD, 'release']);
    expect(await jobs.all()).toEqual([]);
  });

  it('says so when not even the direct download starts', async () => {
    const { downloads, jobs, way } = setUp(undefined);
    downloads.refused.add(ORIGIN).add(`${ORIGIN}#lh-direct`);
    await way.take(order());
    expect(await jobs.all()).toMatchObject([{ state: 'lost' }]);
  });

  it('tells no page to a server of plain http, and the whole page to its own server only', async () => {
    const refererOf = async (page: string, originUrl: string) => {
      const { downloads, way } = setUp(undefined);
      await way.take(order({ page, originUrl }));
      return downloads.started?.headers?.Referer;
    };
    expect(await refererOf('https://origin.example/a?b#c', ORIGIN)).toBe('https://origin.example/a?b');
    expect(await refererOf('https://page.example/a', 'http://origin.example/f')).toBeUndefined();
    expect(await refererOf('', ORIGIN)).toBeUndefined();
  });

  it('is finished after a sleep in its middle, by what was started or from the origin', async () => {
    const own = setUp(undefined, download({ id: 5, url: ORIGIN, addonId: 'longhaul' }));
    await own.jobs.add(ledJob({ state: 'starting', downloadId: undefined }));
    await own.way.recover(ledJob({ state: 'starting', downloadId: undefined }));
    expect(await own.jobs.all()).toMatchObject([{ state: 'running', downloadId: 5 }]);
    const yesterdays = { id: 7, url: ORIGIN, state: 'complete', startedAtMs: NOW_MS - 86_400_000 } as const;
    const none = setUp(undefined, download({ ...yesterdays, addonId: 'longhaul' }));
    await none.way.recover(ledJob({ state: 'starting', downloadId: undefined }));
    expect(none.log).toEqual(['release', DIRECT]);
    const original = setUp(undefined, download());
    await original.way.recover(ledJob({ state: 'starting', downloadId: undefined }));
    expect(original.log).toEqual(['release']);
  });

  it('is finished after the browser ended in its middle, by what that has kept, which comes once', async () => {
    const starting = ledJob({ state: 'starting', originalId: 999 });
    const kept = setUp(undefined, download({ id: 1, url: ORIGIN, startedAtMs: NOW_MS + 9_000 }));
    await kept.jobs.add(starting);
    await kept.way.recover(starting);
    expect(kept.log).toEqual([]);
    // Nobody may lead it any more.
    expect(await kept.jobs.all()).toMatchObject([{ state: 'running', downloadId: 1, way: 'direct' }]);
    for (const others of [{ name: 'file(1).iso' }, { startedAtMs: NOW_MS - 9_000 }, { addonId: 'other' }]) {
      const world = setUp(undefined, download({ id: 1, url: ORIGIN, state: 'interrupted', ...others }));
      await world.way.recover(starting);
      expect(world.log).toEqual(['release', DIRECT]);
    }
  });

  it('takes no older download for the original because the browser has given it that number', async () => {
    const older = setUp(undefined, download({ state: 'complete', name: 'paper.pdf' }));
    await older.jobs.add(ledJob({ state: 'starting', downloadId: undefined }));
    await older.way.recover(ledJob({ state: 'starting', downloadId: undefined }));
    expect(older.log).toEqual(['release', DIRECT]);
  });

  it('keeps no other file after the background slept while the depot answered', async () => {
    const other = setUp(undefined, download({ id: 5, addonId: 'longhaul', totalBytes: 7 }));
    await other.jobs.add(ledJob({ state: 'starting', downloadId: undefined }));
    await other.way.recover(ledJob({ state: 'starting', downloadId: undefined }));
    expect(other.log).toEqual(['release', 'cancel 5', 'erase 5', DIRECT]);
    expect(await other.jobs.all()).toEqual([]);
  });
});

describe('going on', () => {
  const broken = download({ id: 2, state: 'interrupted', error: 'NETWORK_FAILED', canResume: true });
  const tried = (tries: number): Job =>
    ledJob({
      bytes: 700,
      interruption: { sinceMs: NOW_MS, bytes: 700, tries, nextTryAtMs: NOW_MS, problem: '' },
    });

  it.each<[string, Partial<Settings>]>([
    ['is off', { enabled: false }],
    ['is never to touch the site', { sitesOff: ['page.example'] }],
    ['is to show depots nothing of the site', { sitesTunnel: ['origin.example'] }],
  ])('asks the origin and no master where the add-on %s by now', async (_what, changed) => {
    const { avoided, jobs, log, way } = setUpWith({ settings: changed }, undefined, broken);
    await jobs.add(tried(0));
    expect(await way.goOn(tried(0), broken)).toEqual({ result: 'tried' });
    expect(await way.lead(tried(0), broken, 'elsewhere')).toEqual({ result: 'not-yet', problem: '' });
    await way.change(tried(0), broken, 1_000);
    expect(avoided).toEqual([]);
    expect(log.filter((line) => line.includes('master.example'))).toEqual([]);
  });

  it('asks the master where the user himself has sent it through depots, though it is off', async () => {
    const { avoided, jobs, way } = setUpWith({ settings: { enabled: false } }, undefined, broken);
    const chosen = { ...tried(0), originalId: -1 };
    await jobs.add(chosen);
    expect(await way.goOn(chosen, broken)).toEqual({ result: 'tried' });
    expect(avoided).toHaveLength(1);
  });

  it('resumes through the master where the depot shows the next byte of the same file', async () => {
    const master = { result: 'plan', plan: plan({ chain: ['sp-1'] }) } as const;
    const { jobs, log, probed, way } = setUpWith({ master }, undefined, broken);
    await jobs.add(tried(0));
    expect(await way.goOn(tried(0), broken)).toEqual({ result: 'tried' });
    expect(probed).toEqual([[location(), 700]]);
    expect(log).toEqual([LEAD, 'resume 2']);
    expect(await jobs.all()).toMatchObject([{ way: 'chain', chain: ['sp-1'] }]);
  });

  it.each<[string, Answers, string]>([
    [
      'the depot refuses, which the browser would take for the end after two times',
      { chain: { result: 'refused', code: 'origin-busy' } },
      '(origin-busy)',
    ],
    [
      'there is another version now',
      { chain: { result: 'file', file: { ...FILE, etag: '"2"' } } },
      'other version',
    ],
    ['nobody answers', { chain: SILENT }, ''],
    ['the master does not answer', { master: { result: 'silent' } }, ''],
    [
      'the master names another link',
      { master: { result: 'plan', plan: plan({ masterUrl: 'http://10.0.0.1/' }) } },
      '',
    ],
  ])('leaves everything as it is while %s', async (_what, answers, problem) => {
    const { log, way } = setUpWith(answers, undefined, broken);
    const went = await way.goOn(tried(2), broken);
    expect(went).toEqual({ result: 'not-yet', problem: expect.stringContaining(problem) });
    expect(log).toEqual([]);
  });

  it('resumes at a depot that knows another version as wrong, and so refuses who names none', async () => {
    const { jobs, log, probed, way } = setUpWith({ chain: WRONG, named: SAME }, undefined, broken);
    await jobs.add(tried(0));
    expect(await way.goOn(tried(0), broken)).toEqual({ result: 'tried' });
    expect(probed).toEqual([
      [location(), 700],
      [location(), 700, { 'if-match': FILE.etag }],
    ]);
    expect(log).toEqual([LEAD, 'resume 2']);
  });

  it('asks the origin for the rest, too, from the fourth time on, and takes turns with what breaks', async () => {
    const ways = async (answers: Answers, tries: number) => {
      const { log, way } = setUpWith(answers, undefined, broken);
      await way.goOn(tried(tries), broken);
      return log;
    };
    expect(await ways({ chain: SILENT }, 2)).toEqual([]);
    expect(await ways({ chain: SILENT }, 3)).toEqual(['release', 'resume 2']);
    expect(await ways({ chain: SILENT }, 4)).toEqual(['release', 'resume 2']);
    expect(await ways({}, 3)).toEqual(['release', 'resume 2']);
    expect(await ways({}, 4)).toEqual([LEAD, 'resume 2']);
    expect(await ways({ origin: SILENT }, 5)).toEqual([LEAD, 'resume 2']);
  });

  it('follows a master that finds no chain any more to the origin', async () => {
    const direct = plan({ decision: 'direct', location: `${ORIGIN}#lh-direct`, chain: [] });
    const { probed, way } = setUpWith({ master: { result: 'plan', plan: direct } }, undefined, broken);
    expect(await way.goOn(tried(0), broken)).toEqual({ result: 'tried' });
    expect(probed).toEqual([[ORIGIN, 700]]);
  });

  it('does not wait for a resumption that ends only with the download', async () => {
    const { downloads, way } = setUp(undefined, broken);
    downloads.onResume = () => new Promise(() => undefined);
    expect(await way.goOn(tried(0), broken)).toEqual({ result: 'tried' });
  });

  const hanging = download({ id: 2 });
  const cancelled = { state: 'interrupted', error: 'USER_CANCELED', canResume: false } as const;
  it.each<[string, Download, Partial<Download> | 'removed', string]>([
    // That it goes on is no reason to say that it was led.
    ['tries a broken one again', broken, { state: 'in_progress', canResume: false }, 'tried'],
    ['cancels one that hangs', hanging, cancelled, 'not-yet'],
    ['pauses one that hangs', hanging, { ...cancelled, paused: true, canResume: true }, 'not-yet'],
    ['removes it', broken, 'removed', 'not-yet'],
  ])(
    'changes nothing that the user has done while others were asked: he %s',
    async (_what, one, done, result) => {
      for (const call of ['goOn', 'lead'] as const) {
        const { downloads, log, way } = setUpWith(
          {
            whileProbed: () =>
              done === 'removed' ? void downloads.items.delete(2) : downloads.change(2, done),
          },
          undefined,
          one,
        );
        const went = await (call === 'goOn' ? way.goOn(tried(0), one) : way.lead(tried(0), one, 'elsewhere'));
        expect([went.result, log]).toEqual([call === 'goOn' ? result : 'not-yet', []]);
      }
    },
  );

  it('leaves one that hangs alone while nobody has the rest: paused it would be the user’s', async () => {
    const { log, way } = setUpWith({ chain: SILENT }, undefined, download({ id: 2 }));
    expect(await way.goOn(tried(0), download({ id: 2 }))).toMatchObject({ result: 'not-yet' });
    expect(log).toEqual([]);
  });

  it('holds one that hangs so that its next life knows, should the background end meanwhile', async () => {
    const { downloads, jobs, way } = setUp(undefined, download({ id: 2 }));
    await jobs.add(tried(0));
    downloads.pause = () => new Promise(() => undefined);
    void way.goOn(tried(0), download({ id: 2 }));
    await expect.poll(async () => (await jobs.all())[0]?.isHeld).toBe(true);
  });

  it('ends a connection that hangs before it asks for the rest', async () => {
    const { downloads, log, way } = setUp(undefined, download({ id: 2 }));
    downloads.pause = async (id) => {
      log.push(`pause ${id}`);
      downloads.change(id, { state: 'interrupted', paused: true, canResume: true });
    };
    await way.goOn(tried(0), download({ id: 2 }));
    expect(log).toEqual(['pause 2', LEAD, 'resume 2']);
  });

  it('starts again, a bounded number of times, where nothing is left on disk', async () => {
    const gone = { ...broken, canResume: false };
    const { log, probed, way } = setUp(undefined, gone);
    expect(await way.goOn(tried(0), gone)).toMatchObject({
      result: 'moved',
      patch: { restarts: 1, bytes: 0, way: 'chain', interruption: undefined },
    });
    expect(probed).toEqual([[location(), 0]]);
    expect(log).toEqual(['cancel 2', 'erase 2', LEAD, `start ${ORIGIN} as file.iso`]);
    const last = setUp(undefined, gone);
    expect(await last.way.goOn({ ...tried(0), restarts: 3 }, gone)).toEqual({ result: 'lost' });
  });

  it('waits with that, too, until somebody has the file', async () => {
    const gone = { ...broken, canResume: false };
    const { log, way } = setUpWith({ chain: SILENT, origin: SILENT }, undefined, gone);
    expect(await way.goOn(tried(9), gone)).toEqual({ result: 'not-yet', problem: '' });
    expect(log).toEqual([]);
  });
});

describe('a download whose depot has found that it is not what the origin states', () => {
  const broken = download({ id: 2, state: 'interrupted', canResume: true, bytesReceived: 999 });
  const begun = (patch: Partial<Job> = {}) =>
    ledJob({ location: BEGUN, bytes: 999, file: { ...FILE, totalBytes: 1_000 }, ...patch });
  const other = { result: 'file', file: { ...FILE, totalBytes: 1_000 } } as const;
  const answers: Answers = { begun: WRONG, chain: other, origin: other };

  it.each<[string, (way: LedWay) => Promise<unknown>]>([
    ['by itself', (way) => way.goOn(begun(), broken)],
    ['for the user', (way) => way.lead(begun(), broken, 'elsewhere')],
  ])('begins anew, past its depots, and never gets its end from somebody else: %s', async (_for, goOn) => {
    const { avoided, log, probed, way } = setUpWith(answers, undefined, broken);
    expect(await goOn(way)).toMatchObject({ result: 'moved', patch: { bytes: 0, restarts: 1 } });
    expect(probed).toEqual([
      [BEGUN, 999, { 'if-match': FILE.etag }],
      [location(), 0],
    ]);
    expect(avoided).toEqual([['pe-1', 'rj-1']]);
    expect(log).toEqual(['cancel 2', 'erase 2', LEAD, `start ${ORIGIN} as file.iso`]);
  });

  it('begins at the origin where no other depots have it', async () => {
    const { log, way } = setUpWith({ ...answers, chain: SILENT }, undefined, broken);
    expect(await way.goOn(begun(), broken)).toMatchObject({ result: 'moved', patch: { way: 'direct' } });
    expect(log).toEqual(['cancel 2', 'erase 2', 'release', `start ${ORIGIN} as file.iso`]);
  });

  it.each<[string, Partial<Job>, (way: LedWay, job: Job) => Promise<unknown>, string]>([
    ['over other depots', {}, (way, job) => way.goOn(job, broken), 'chain'],
    ['from the origin', { restarts: 1 }, (way, job) => way.goOn(job, broken), 'direct'],
    ['for the user', {}, (way, job) => way.lead(job, broken, 'direct'), 'direct'],
  ])('comes as the version that is there by now: %s', async (_from, patch, goOn, way) => {
    const file = { ...FILE, totalBytes: undefined, etag: '"v2"' };
    const newer = { result: 'file', file } as const;
    const world = setUpWith({ begun: WRONG, chain: newer, origin: newer }, undefined, broken);
    expect(await goOn(world.way, begun(patch))).toMatchObject({ result: 'moved', patch: { way, file } });
    expect(world.downloads.started?.outlives).toBe(false);
  });

  it('comes as no version that nobody could tell from another one', async () => {
    const file = { ...FILE, totalBytes: 9, etag: '', lastModified: '' };
    const nameless = { result: 'file', file } as const;
    const { log, way } = setUpWith({ begun: WRONG, chain: nameless, origin: nameless }, undefined, broken);
    expect(await way.goOn(begun(), broken)).toEqual({ result: 'not-yet', problem: 'other version' });
    expect(log).toEqual([]);
  });

  it.each([1, 2, 3])(
    'begins at the origin, and stays there, where it has begun anew %i times: what other depots find as well the origin says itself',
    async (restarts) => {
      const { avoided, log, jobs, probed, way } = setUpWith(answers, undefined, broken);
      const job = begun({ restarts });
      await jobs.add(job);
      const went = await way.goOn(job, broken);
      expect(went).toMatchObject({ result: 'moved', patch: { way: 'direct', bytes: 0, state: 'running' } });
      expect(log).toEqual(['cancel 2', 'erase 2', 'release', `start ${ORIGIN} as file.iso`]);
      expect(avoided).toEqual([]);
      log.length = 0;
      probed.length = 0;
      if (went.result !== 'moved') return;
      const later = { ...job, ...went.patch, bytes: 999 };
      expect(await way.goOn(later, { ...broken, id: later.downloadId ?? 0 })).toEqual({ result: 'tried' });
      expect(probed).toEqual([[ORIGIN, 999]]);
      expect(avoided).toEqual([]);
    },
  );

  it.each([
    [
      'its date',
      { etag: '', lastModified: 'Sun, 01 Nov 2026 12:00:00 GMT' },
      { 'if-unmodified-since': 'Sun, 01 Nov 2026 12:00:00 GMT' },
    ],
    ['nothing', { etag: '', lastModified: '' }, {}],
  ])('is asked for by its version: by %s where it has no tag', async (_what, said, named) => {
    const { probed, way } = setUpWith(answers, undefined, broken);
    await way.goOn(begun({ file: { ...begun().file, ...said } }), broken);
    expect(probed[0]).toEqual([BEGUN, 999, named]);
  });

  it('stays while nobody has the file', async () => {
    const silent = { ...answers, chain: SILENT, origin: SILENT };
    const { log, way } = setUpWith(silent, undefined, broken);
    expect(await way.goOn(begun(), broken)).toMatchObject({ result: 'not-yet' });
    expect(log).toEqual([]);
  });

  it.each<[string, Partial<Job>]>([
    ['the depot says nothing of it', {}],
    ['it broke long before its end', { file: { ...FILE, totalBytes: 100_000_000 } }],
    ['the origin itself had it last', { way: 'direct' }],
  ])('is resumed as any other where %s', async (why, patch) => {
    const file = patch.file ?? begun().file;
    const same = { result: 'file', file } as const;
    const said = why.startsWith('the depot') ? {} : { begun: WRONG };
    const { log, way } = setUpWith({ ...said, chain: same, origin: same }, undefined, broken);
    expect(await way.goOn(begun(patch), broken)).toEqual({ result: 'tried' });
    expect(log).toEqual([LEAD, 'resume 2']);
  });
});

describe('a download that is whole and is not the file', () => {
  const other = download({ id: 2, url: ORIGIN, state: 'complete', totalBytes: 73, bytesReceived: 73 });

  it('goes as soon as the file is there again, which has its name then', async () => {
    const { log, way } = setUp(undefined, other);
    const went = await way.goOn(ledJob(), other);
    expect(log).toEqual(['remove 2', 'erase 2', 'cancel 2', 'erase 2', LEAD, `start ${ORIGIN} as file.iso`]);
    expect(went).toMatchObject({ result: 'moved', patch: { state: 'running', bytes: 0, restarts: 1 } });
  });

  it('stays while nobody shows the file, where the site has it as its new version, and where nothing is to come in its place', async () => {
    const file = { ...FILE, totalBytes: 73, etag: '"v2"' };
    const anew = setUpWith({ chain: SILENT, origin: { result: 'file', file } }, undefined, other);
    expect(await anew.way.goOn(ledJob(), other)).toMatchObject({ result: 'moved', patch: { file } });
    const silent = setUpWith({ chain: SILENT, origin: SILENT }, undefined, other);
    expect(await silent.way.goOn(ledJob(), other)).toMatchObject({ result: 'not-yet' });
    const tired = setUp(undefined, other);
    expect(await tired.way.goOn(ledJob({ restarts: 3 }), other)).toEqual({ result: 'lost' });
    for (const { log } of [anew, silent, tired]) expect(log).toEqual([]);
  });
});

describe('leaving a slow chain', () => {
  const running = (patch: Partial<Download> = {}) =>
    download({ id: 2, bytesReceived: 10_000_000, canResume: true, addonId: 'longhaul', ...patch });
  const other = plan({
    chain: ['sp-1'],
    masterUrl: 'https://master.example/get/~avoid=pe-1+rj-1/https/origin.example:443/file.iso',
  });

  it('goes on at the next byte over another chain that ends sooner', async () => {
    const { jobs, log, probed, way } = setUpWith(
      { master: { result: 'plan', plan: other } },
      undefined,
      running(),
    );
    await jobs.add(ledJob());
    expect(await way.change(ledJob(), running(), 100)).toMatchObject({
      way: 'chain',
      chain: ['sp-1'],
      masterUrl: other.masterUrl,
    });
    expect(log).toEqual(['pause 2', `lead ${ORIGIN} to ${other.masterUrl}`, 'resume 2']);
    expect(probed).toEqual([[other.location, 10_000_000]]);
  });

  it.each<[string, Answers]>([
    [
      'the master knows no other chain',
      { master: { result: 'plan', plan: plan({ decision: 'direct', chain: [] }) } },
    ],
    ['the master is away', { master: { result: 'silent' } }],
    ['the other chain does not have the file', { chain: SILENT }],
  ])('goes on at the next byte from the origin when %s', async (_what, answers) => {
    const { log, way } = setUpWith(answers, undefined, running());
    expect(await way.change(ledJob(), running(), 100)).toEqual({ way: 'direct', chain: [] });
    expect(log).toEqual(['pause 2', 'release', 'resume 2']);
  });

  it.each<[string, Answers, number]>([
    ['nothing ends sooner', {}, 8],
    ['nobody has the next byte', { chain: SILENT, origin: SILENT }, 100],
  ])('stays where it is when %s', async (_what, answers, leftSeconds) => {
    const { log, way } = setUpWith(answers, undefined, running());
    expect(await way.change(ledJob(), running(), leftSeconds)).toBeUndefined();
    expect(log).toEqual([]);
  });

  it('tells from what finds nothing better that nobody answers, neither the master nor the origin', async () => {
    const { log, way } = setUpWith({ master: { result: 'silent' }, origin: SILENT }, undefined, running());
    expect(await way.change(ledJob(), running(), 100)).toBe('nobody');
    // The origin was not asked.
    expect(await way.change(ledJob(), running(), 8)).toBeUndefined();
    expect(log).toEqual([]);
  });

  it.each<[string, Partial<Download>]>([
    ['the user has paused it', { paused: true }],
    ['it has broken', { state: 'interrupted', error: 'NETWORK_FAILED' }],
  ])('touches nothing when %s meanwhile', async (_what, patch) => {
    const { log, way } = setUpWith({}, undefined, running(patch));
    expect(await way.change(ledJob(), running(), 100)).toBeUndefined();
    expect(log).toEqual([]);
  });

  describe('that stands still', () => {
    const led = ledJob({ location: location() });
    const toOther = { master: { result: 'plan', plan: other } } as const;

    it.each<[string, string | undefined]>([
      ['nobody is at the address of its entry depot', undefined],
      ['a neighbour is at the address of its entry depot', 'sp-1'],
    ])('leaves at once when %s, and avoids no other depot', async (_what, there) => {
      const { avoided, log, way } = setUpWith({ ...toOther, there }, undefined, running());
      expect(await way.standstill.leaveGone(led, running())).toMatchObject({ way: 'chain', chain: ['sp-1'] });
      expect(avoided).toEqual([['pe-1']]);
      expect(log).toEqual(['pause 2', `lead ${ORIGIN} to ${other.masterUrl}`, 'resume 2']);
    });

    it.each<[string, string]>([
      ['its entry depot is there, which repairs what is behind it', 'pe-1'],
      ['its entry depot is of a version that does not say who it is', ''],
    ])('asks nobody else when %s', async (_what, there) => {
      const { avoided, log, way } = setUpWith({ ...toOther, there }, undefined, running());
      expect(await way.standstill.leaveGone(led, running())).toBeUndefined();
      expect([avoided, log]).toEqual([[], []]);
    });

    it('knows of an entry group which of its depots serves it, and leaves and avoids that one', async () => {
      const served = { ...led, servedBy: 'ce-1' };
      const stays = setUpWith({ ...toOther, there: 'ce-1' }, undefined, running());
      expect(await stays.way.standstill.leaveGone(served, running())).toBeUndefined();
      const gone = setUpWith(
        { ...toOther, there: 'pe-1' },
        depotsAnswer({}, { 'longhaul-depot': 'pe-1' }),
        running(),
      );
      await gone.jobs.add(served);
      expect(await gone.way.standstill.leaveGone(served, running())).toMatchObject({ way: 'chain' });
      expect(gone.avoided).toEqual([['ce-1']]);
      await expect.poll(() => gone.jobs.all()).toMatchObject([{ servedBy: 'pe-1' }]);
    });

    it('stays when bytes come again meanwhile, or nobody has the next one', async () => {
      const goesOn = setUpWith(toOther, undefined, running({ bytesReceived: 10_000_001 }));
      expect(await goesOn.way.standstill.leaveGone(led, running())).toBeUndefined();
      const alone = setUpWith({ chain: SILENT, origin: SILENT }, undefined, running());
      expect(await alone.way.standstill.leaveGone(led, running())).toBeUndefined();
      expect([goesOn.log, alone.log]).toEqual([[], []]);
    });
  });
});

describe('led elsewhere by the user', () => {
  const runs = download({ id: 2, url: ORIGIN, bytesReceived: 7, addonId: 'longhaul' });

  function setUpRunning(answers: Answers) {
    const world = setUpWith(answers, undefined, runs);
    // Firefox can say so only of what rests.
    world.downloads.pause = async (id) => {
      world.log.push(`pause ${id}`);
      world.downloads.change(id, { paused: true, state: 'interrupted', canResume: true });
    };
    return world;
  }

  it('goes on directly at the next byte', async () => {
    const { jobs, log, probed, way } = setUpRunning({});
    await jobs.add(ledJob());
    expect(await way.lead(ledJob(), runs, 'direct')).toEqual({ result: 'tried' });
    expect(probed).toEqual([[ORIGIN, 7]]);
    expect(log).toEqual(['pause 2', 'release', 'resume 2']);
    expect(await jobs.all()).toMatchObject([{ way: 'direct', chain: [] }]);
  });

  it('goes on over other depots at the next byte, and stays with them', async () => {
    const other = plan({
      masterUrl: `https://master.example/get/~avoid=pe-1/https/origin.example:443/file.iso`,
      chain: ['sp-1'],
    });
    const { jobs, log, way } = setUpRunning({ master: { result: 'plan', plan: other } });
    await jobs.add(ledJob());
    expect(await way.lead(ledJob(), runs, 'elsewhere')).toEqual({ result: 'tried' });
    expect(log).toEqual(['pause 2', `lead ${ORIGIN} to ${other.masterUrl}`, 'resume 2']);
    expect(await jobs.all()).toMatchObject([{ masterUrl: other.masterUrl, chain: ['sp-1'] }]);
  });

  it.each<[string, Answers, 'direct' | 'elsewhere']>([
    ['the origin has another version', { origin: SILENT }, 'direct'],
    [
      'the master knows no other chain',
      { master: { result: 'plan', plan: plan({ decision: 'direct' }) } },
      'elsewhere',
    ],
  ])('changes nothing when %s', async (_when, answers, to) => {
    const { jobs, log, way } = setUpRunning(answers);
    await jobs.add(ledJob());
    expect(await way.lead(ledJob(), runs, to)).toMatchObject({ result: 'not-yet' });
    expect(log).toEqual([]);
  });

  it('asks nothing of the origin where the user wants other depots and there are none', async () => {
    const master = { result: 'plan', plan: plan({ decision: 'direct' }) } as const;
    const { avoided, probed, way } = setUpRunning({ master });
    await way.lead(ledJob(), runs, 'elsewhere');
    expect(avoided).toEqual([['pe-1', 'rj-1'], ['pe-1']]);
    expect(probed).toEqual([]);
  });

  it('asks no master again once the user has chosen the direct way', async () => {
    const broken = download({ ...runs, state: 'interrupted', canResume: true });
    const { jobs, log, probed, way } = setUpWith({}, undefined, broken);
    await jobs.add(ledJob({ choseDirect: true, way: 'direct' }));
    expect(await way.goOn(ledJob({ choseDirect: true, way: 'direct' }), broken)).toEqual({ result: 'tried' });
    expect(probed).toEqual([[ORIGIN, 0]]);
    expect(log).toEqual(['release', 'resume 2']);
  });

  it('starts a link under the name that it is given', async () => {
    const { jobs, log, way } = setUp(depotsAnswer({ isFromTab: false }));
    const { original: _original, inOnePiece: _inOnePiece, ...link } = order();
    expect(await way.begin({ ...link, name: 'chosen.iso' })).toBe('taken');
    expect(log).toEqual([LEAD, `start ${ORIGIN} as chosen.iso`]);
    expect(await jobs.all()).toMatchObject([{ state: 'running', name: 'chosen.iso' }]);
  });
});
