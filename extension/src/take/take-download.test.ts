import { expect, it } from 'vitest';
import { askMaster } from '../ask/ask-master.ts';
import { type Probe, probeFile } from '../ask/probe-file.ts';
import { factsOf } from '../judge/file-facts.ts';
import type { Left, WhyLeft } from '../judge/why-left.ts';
import { download, FakeDownloads, NOW_MS } from '../testing/fake-downloads.ts';
import { location, plan } from '../testing/plan.ts';
import { seenAnswer } from '../testing/seen-answer.ts';
import { serve } from '../testing/serve.ts';
import { settings } from '../testing/settings.ts';
import type { TakeOrder } from '../ways/way.ts';
import { type TakeDependencies, takeDownload } from './take-download.ts';

const FILE = factsOf(200, seenAnswer().headers);
const PROBE: Probe = { result: 'file', file: FILE };

function setUp(patch: Partial<TakeDependencies> = {}, caught = download()) {
  const downloads = new FakeDownloads(caught);
  const orders: TakeOrder[] = [];
  const deps: TakeDependencies = {
    addonId: 'longhaul',
    now: () => NOW_MS,
    downloads,
    keeper: { look: async () => undefined, expect: () => undefined },
    way: {
      standsBeside: true,
      take: async (order) => {
        orders.push(order);
        return 'taken';
      },
    },
    settings: async () => settings(),
    answers: { answerTo: async () => seenAnswer() },
    heldKeys: { isHeld: () => false },
    hasAccess: async () => true,
    isUsualPlace: async () => true,
    askMaster: async () => ({ result: 'plan', plan: plan() }),
    probeFile: async () => PROBE,
    greetDepot: async () => true,
    deadline: () => new AbortController().signal,
    plannedDirect: async () => undefined,
    depotIsSilent: async () => undefined,
    ...patch,
  };
  return { downloads, orders, take: () => takeDownload(caught, deps) };
}

it.each<[string, Parameters<typeof settings>[0], WhyLeft]>([
  ['switched the add-on off', { enabled: false }, 'off'],
  ['switched the site off', { sitesOff: ['origin.example'] }, 'site-off'],
  ['chosen a tunnel for the site', { sitesTunnel: ['origin.example'] }, 'tunnel'],
  ['set another master', { master: 'https://other.example' }, 'master-elsewhere'],
])('leaves a download alone when the user has %s while it was planned', async (_what, patch, why) => {
  let current = settings();
  const { orders, take } = setUp({
    settings: async () => current,
    probeFile: async () => {
      current = settings(patch);
      return PROBE;
    },
  });
  expect(await take()).toEqual({ why });
  expect(orders).toEqual([]);
});

it.each<[string, number, number, Left['why'] | 'taken']>([
  ['since it began', 1_000, 1_000, 'nearly-done'],
  ['since its answer, which came while the user was asked', 1_000, 20_000, 'taken'],
  ['since it began, though its answer took long', 20_000, 1_000, 'taken'],
])('counts what a download has shown %s', async (_how, begunMs, answeredMs, outcome) => {
  const { take } = setUp(
    { answers: { answerTo: async () => seenAnswer({ atMs: NOW_MS - answeredMs }) } },
    download({ bytesReceived: 10_000_000, startedAtMs: NOW_MS - begunMs }),
  );
  expect(await take()).toEqual(outcome === 'taken' ? 'taken' : { why: outcome });
});

it('says by which plan a download stays direct, so that what it gives can be told', async () => {
  const told: unknown[] = [];
  const { take } = setUp({
    askMaster: async () => ({ result: 'plan', plan: plan({ decision: 'direct', chain: [] }) }),
    plannedDirect: async ({ id }, ...by) => void told.push([id, ...by]),
  });
  expect(await take()).toEqual({ why: 'direct-is-best' });
  expect(told).toEqual([[download().id, 'job-1', 'https://master.example']]);
});

it('keeps with a download the master that the user has agreed to tell of it, as of when it began', async () => {
  const { orders, take } = setUp({ settings: async () => settings({ tellsMaster: true }) });
  await take();
  expect(orders).toMatchObject([{ reportsTo: 'https://master.example' }]);
  const silent = setUp();
  await silent.take();
  expect(silent.orders).toMatchObject([{ reportsTo: undefined }]);
});

it.each([
  ['agreed to tell the master', true, ['https://near.example', 'https://far.example']],
  ['not agreed to tell it', false, []],
])(
  'greets the public depots that are to know how far they are, where the user has %s',
  async (_what, tellsMaster, places) => {
    const greeted: string[] = [];
    const toMeet = [
      'https://near.example',
      'http://192.168.1.1',
      'javascript:alert(1)',
      'https://far.example',
    ];
    const { take } = setUp({
      settings: async () => settings({ tellsMaster }),
      askMaster: async () => ({ result: 'plan', plan: plan({ toMeet }) }),
      greetDepot: async (place) => {
        greeted.push(place);
        return false;
      },
    });
    expect(await take()).toBe('taken');
    await expect.poll(() => greeted).toEqual(places);
  },
);

it('orders a download to be taken once the depot has shown the file, as the browser saw it', async () => {
  const { orders, take } = setUp();
  expect(await take()).toBe('taken');
  expect(orders).toEqual([
    {
      original: download(),
      originUrl: 'https://origin.example/file.iso',
      page: 'https://page.example',
      file: FILE,
      inOnePiece: false,
      plan: plan(),
    },
  ]);
});

it.each<[string, Record<string, string>, boolean]>([
  ['a file that may be kept', {}, false],
  [
    'a file that must not be kept and has no strong tag, where the browser shows no answers',
    { 'cache-control': 'no-store', etag: 'W/"v1"' },
    true,
  ],
])('tries one byte of %s', async (_what, headers, inOnePiece) => {
  const calls: string[] = [];
  const { orders, take } = setUp({
    answers: { answerTo: async () => seenAnswer({}, headers) },
    probeFile: async () => {
      calls.push('probe');
      return { result: 'file', file: factsOf(200, seenAnswer({}, headers).headers) };
    },
    greetDepot: async () => {
      calls.push('greet');
      return true;
    },
  });
  await take();
  expect(calls).toEqual(['probe']);
  expect(orders).toMatchObject([{ inOnePiece }]);
});

it.each([true, false])(
  'asks the origin for no trial of a file that must not be kept (beside: %s)',
  async (standsBeside) => {
    const calls: string[] = [];
    const patch: Partial<TakeDependencies> = {
      answers: { answerTo: async () => seenAnswer({}, { 'cache-control': 'no-store' }) },
      probeFile: async () => {
        calls.push('probe');
        return PROBE;
      },
      greetDepot: async () => {
        calls.push('greet');
        return calls.length === 1;
      },
    };
    const way: TakeDependencies['way'] = { standsBeside, take: async () => 'taken' };
    const { take } = setUp({ ...patch, way });
    expect(await take()).toBe('taken');
    expect(await take()).toEqual({ why: 'depot-silent' });
    expect(calls).toEqual(['greet', 'greet']);
  },
);

const planned = (patch: Parameters<typeof plan>[0]) => async () => ({
  result: 'plan' as const,
  plan: plan(patch),
});

it.each<[WhyLeft, Partial<TakeDependencies>]>([
  ['off', { settings: async () => settings({ enabled: false }) }],
  ['key-held', { heldKeys: { isHeld: (page, key) => page === 'https://page.example' && key === 'alt' } }],
  ['no-access', { hasAccess: async (urls) => !urls.includes('https://master.example') }],
  ['no-access', { hasAccess: async (urls) => !urls.includes(plan().location) }],
  ['unseen', { answers: { answerTo: async () => undefined } }],
  ['personal', { answers: { answerTo: async () => seenAnswer({}, { vary: 'Cookie' }) } }],
  ['master-silent', { askMaster: async () => ({ result: 'silent' }) }],
  ['no-master-there', { askMaster: async () => ({ result: 'no-master', status: 404 }) }],
  ['direct-is-best', { askMaster: planned({ decision: 'direct', chain: [] }) }],
  ['plan-unfit', { askMaster: planned({ location: 'http://192.168.1.1/apply.cgi' }) }],
  ['insecure-chain', { askMaster: planned({ location: location('http://depot.example') }) }],
  ['depot-silent', { probeFile: async () => ({ result: 'silent' }) }],
  ['saved-as', { isUsualPlace: async () => false }],
  ['different-file', { probeFile: async () => ({ result: 'file', file: { ...FILE, etag: '"v2"' } }) }],
])('leaves the original alone: %s', async (why, patch) => {
  const { downloads, orders, take } = setUp(patch);
  expect(await take()).toEqual({ why });
  expect(downloads.log).toEqual([]);
  expect(orders).toEqual([]);
});

it('hands on what the master or the depot itself says', async () => {
  const refused = { result: 'refused', code: 'origin-not-allowed', message: 'Ask the operator.' } as const;
  expect(await setUp({ askMaster: async () => refused }).take()).toEqual({
    why: 'master-refused',
    detail: 'Ask the operator. (origin-not-allowed)',
  });
  const { detail } = (await setUp({
    probeFile: async () => ({ result: 'refused', code: 'origin-needs-login' }),
  }).take()) as Left;
  expect(detail).toMatch(/login.*\(origin-needs-login\)$/);
});

it('asks nobody about a download that others must not ask for', async () => {
  let asked = false;
  const { take } = setUp({
    answers: { answerTo: async () => seenAnswer({ method: 'POST' }) },
    askMaster: async () => {
      asked = true;
      return { result: 'silent' };
    },
  });
  expect(await take()).toEqual({ why: 'post' });
  expect(asked).toBe(false);
});

it('gives up when master or depot has not answered in time', async () => {
  for (const silent of ['master', 'depot']) {
    const time = new AbortController();
    const mute = await serve(() => time.abort());
    const { downloads, take } = setUp({
      deadline: () => time.signal,
      askMaster: (_master, request, signal) =>
        silent === 'master' ? askMaster(mute, request, signal) : planned({})(),
      probeFile: (_location, signal) => probeFile(mute, signal),
    });
    expect(await take()).toEqual({ why: `${silent}-silent` });
    expect(downloads.log).toEqual([]);
  }
});

it('does nothing when the original has finished, is paused, warned of or nearly done by the time the depot answers', async () => {
  for (const [patch, why] of [
    [{ state: 'complete' }, 'finished'],
    [{ paused: true }, 'finished'],
    [{ isWarnedOf: true }, 'warned'],
    [{ bytesReceived: 41_000_000 }, 'nearly-done'],
  ] as const) {
    const { downloads, take } = setUp({
      probeFile: async () => {
        downloads.change(1, patch);
        return PROBE;
      },
    });
    expect(await take()).toEqual({ why });
    expect(downloads.log).toEqual([]);
  }
});

it('tells nobody of a download whose place the user chooses', async () => {
  let asked = false;
  const { take } = setUp({
    isUsualPlace: async () => false,
    askMaster: async () => {
      asked = true;
      return { result: 'silent' };
    },
  });
  expect(await take()).toEqual({ why: 'saved-as' });
  expect(asked).toBe(false);
});

it('asks to be woken before it touches the original: nobody else would let go of one that is paused', async () => {
  const calls: string[] = [];
  const { take } = setUp({
    keeper: { look: async () => void calls.push('look'), expect: () => void calls.push('expect') },
    way: {
      standsBeside: true,
      take: async () => {
        calls.push('take');
        return 'taken';
      },
    },
  });
  await take();
  expect(calls).toEqual(['expect', 'take', 'look']);
});

const SIGNED = 'https://bucket.example/backup.zip?X-Amz-Signature=ab';
const ledTo = (url: string, seen: Parameters<typeof seenAnswer>[0] = {}, set = settings()) => {
  const asked: string[] = [];
  const world = setUp(
    {
      answers: { answerTo: async () => seenAnswer(seen) },
      settings: async () => set,
      askMaster: async (_master, request) => {
        asked.push(request.url);
        return { result: 'plan', plan: plan() };
      },
    },
    // As Firefox tells of it.
    download({ url, name: 'backup.zip' }),
  );
  return { ...world, asked };
};

it('plans a signed address that redirects led to by the address that was asked first', async () => {
  const first = { url: 'https://origin.example/file.iso#top', method: 'GET', address: '8.8.8.8' };
  const { asked, orders, take } = ledTo(SIGNED, { first });
  expect(await take()).toBe('taken');
  expect(asked).toEqual(['https://origin.example/file.iso']);
  expect(orders).toMatchObject([
    { originUrl: 'https://origin.example/file.iso', original: { name: 'backup.zip' } },
  ]);
});

it.each<[WhyLeft, string, Parameters<typeof settings>[0]]>([
  ['private-host', 'https://portal.corp/my/backup', {}],
  ['site-off', 'https://portal.example/my/backup', { sitesOff: ['portal.example'] }],
  ['tunnel', 'https://portal.example/my/backup', { sitesTunnel: ['portal.example'] }],
  ['own', 'https://master.example/get/https/bucket.example/backup.zip', {}],
  ['personal', SIGNED, {}],
])('asks nobody about a signed address: %s, for %s', async (why, url, patch) => {
  const { asked, take } = ledTo(SIGNED, { first: { url, address: undefined } }, settings(patch));
  expect(await take()).toEqual({ why });
  expect(asked).toEqual([]);
});

it('holds to the address that was asked first what the user changes while it is planned', async () => {
  let current = settings();
  const { take } = setUp(
    {
      answers: {
        answerTo: async () =>
          seenAnswer({
            first: { url: 'https://origin.example/file.iso', address: undefined },
          }),
      },
      settings: async () => current,
      probeFile: async () => {
        current = settings({ sitesOff: ['origin.example'] });
        return PROBE;
      },
    },
    download({ url: SIGNED }),
  );
  expect(await take()).toEqual({ why: 'site-off' });
});
