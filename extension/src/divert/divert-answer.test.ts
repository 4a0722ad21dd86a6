import { expect, it } from 'vitest';
import type { HeldAnswer } from '../browser/diversions.ts';
import { factsOf } from '../judge/file-facts.ts';
import type { WhyLeft } from '../judge/why-left.ts';
import type { TakeDependencies } from '../take/take-download.ts';
import { FakeDownloads, NOW_MS } from '../testing/fake-downloads.ts';
import { plan } from '../testing/plan.ts';
import { seenAnswer } from '../testing/seen-answer.ts';
import { settings } from '../testing/settings.ts';
import { SeenAnswers } from '../watch/seen-answers.ts';
import { divertAnswer } from './divert-answer.ts';

const HEADERS = { 'cache-control': 'max-age=600' };

function setUp(patch: Partial<TakeDependencies> = {}) {
  const asked: string[] = [];
  const deps: TakeDependencies = {
    addonId: 'longhaul',
    now: () => NOW_MS,
    downloads: new FakeDownloads(),
    keeper: { look: async () => undefined, expect: () => undefined },
    way: { standsBeside: false, take: async () => 'taken' },
    settings: async () => settings({ noWastedByte: true }),
    answers: { answerTo: async () => undefined },
    heldKeys: { isHeld: () => false },
    hasAccess: async () => true,
    isUsualPlace: async () => false,
    askMaster: async (_master, { url }) => {
      asked.push(url);
      return { result: 'plan', plan: plan() };
    },
    probeFile: async () => ({ result: 'file', file: factsOf(200, seenAnswer().headers) }),
    greetDepot: async () => true,
    deadline: () => new AbortController().signal,
    plannedDirect: async () => undefined,
    depotIsSilent: async () => undefined,
    ...patch,
  };
  return { asked, deps };
}

/** What becomes of an answer to a request that nobody saw redirected. */
const divert = (answer: HeldAnswer, deps: TakeDependencies) =>
  divertAnswer(answer, new SeenAnswers(async () => undefined).toAnswer(answer), deps);

const held = (patch: Partial<HeldAnswer> = {}, headers: Record<string, string> = {}): HeldAnswer => ({
  requestId: '1',
  url: 'https://origin.example/file.iso#top',
  method: 'GET',
  tabId: 3,
  statusCode: 200,
  originUrl: 'https://page.example/list',
  responseHeaders: [...seenAnswer({}, { ...HEADERS, ...headers }).headers].map(([name, value]) => ({
    name,
    value,
  })),
  ...patch,
});

it('tells which depot is silent, so that no further answer is held for it', async () => {
  const silent: string[] = [];
  const { deps } = setUp({
    probeFile: async () => ({ result: 'silent' }),
    depotIsSilent: async (place) => void silent.push(place),
  });
  expect(await divert(held(), deps)).toEqual({ why: 'depot-silent' });
  expect(silent).toEqual([plan().location]);
});

it('orders the file of a held answer from the depots, wherever the user will save it', async () => {
  const { asked, deps } = setUp();
  expect(await divert(held(), deps)).toMatchObject({
    originUrl: 'https://origin.example/file.iso',
    page: 'https://page.example/list',
    plan: { location: plan().location },
  });
  expect(asked).toEqual(['https://origin.example/file.iso']);
});

it.each<[string, HeldAnswer]>([
  ['a page', held({}, { 'content-type': 'text/html' })],
  ['what must not be kept', held({}, { 'cache-control': 'no-store' })],
  ['the answer to a form', held({ method: 'POST' })],
  ['a private window', held({ incognito: true })],
  ['a container', held({ cookieStoreId: 'firefox-container-1' })],
  ["what is the user's own", held({}, { vary: 'Cookie' })],
  ['a file that is small', held({}, { 'content-length': '1000' })],
  ['a part', held({ statusCode: 206 })],
  ['what is signed', held({ url: 'https://bucket.example/file.iso?sig=a' })],
  ["a depot's answer", held({ url: plan().location })],
])('leaves %s as it is, and asks nobody', async (_what, answer) => {
  const { asked, deps } = setUp();
  expect((await divert(answer, deps)) ?? {}).not.toHaveProperty('plan');
  expect(asked).toEqual([]);
});

it.each<[WhyLeft, Partial<TakeDependencies>]>([
  ['master-silent', { askMaster: async () => ({ result: 'silent' }) }],
  ['direct-is-best', { askMaster: async () => ({ result: 'plan', plan: plan({ decision: 'direct' }) }) }],
  [
    'different-file',
    { probeFile: async () => ({ result: 'file', file: factsOf(200, new Headers({ etag: '"v2"' })) }) },
  ],
  ['key-held', { heldKeys: { isHeld: () => true } }],
])('leaves an answer as it is, and says why: %s', async (why, patch) => {
  expect(await divert(held(), setUp(patch).deps)).toEqual({ why });
});

it('orders what redirects led to a signed address by the address that was asked first', async () => {
  const { asked, deps } = setUp();
  const answers = new SeenAnswers(async () => undefined);
  const signed = held({ url: 'https://bucket.example/file.iso?sig=a' });
  answers.asked(held());
  answers.asked(signed);
  expect(await divertAnswer(signed, answers.toAnswer(signed), deps)).toMatchObject({
    originUrl: 'https://origin.example/file.iso',
  });
  expect(asked).toEqual(['https://origin.example/file.iso']);
});
