import { expect, it, vi } from 'vitest';
import { isAtDepot } from '../divert/rescue.ts';
import { location } from '../testing/plan.ts';
import { holdAnswers } from './diversions.ts';

const { answered, sending } = vi.hoisted(() => {
  const event = () => ({
    addListener: vi.fn<(...args: unknown[]) => void>(),
    removeListener: vi.fn<() => void>(),
    hasListener: () => false,
  });
  return { answered: event(), sending: event() };
});
vi.mock('./browser-api.ts', () => ({
  api: {
    // Firefox is about to get Chromium's event.
    downloads: { onDeterminingFilename: {} },
    webRequest: { onHeadersReceived: answered, onBeforeSendHeaders: sending },
  },
}));

const PAGES = { urls: ['http://*/*', 'https://*/*'], types: ['main_frame'] };

it('holds answers whatever events Firefox has, but none that a frame waits for: its page may forbid it to come from elsewhere', async () => {
  await holdAnswers(async () => undefined, isAtDepot)(true);
  expect(answered.addListener.mock.calls).toEqual([
    [expect.any(Function), PAGES, ['blocking', 'responseHeaders']],
  ]);
});

it('leads a request once: where the depot leads it back to its origin, that answer stays', async () => {
  await holdAnswers(
    async ({ requestId }) => (requestId === 'left' ? undefined : location()),
    isAtDepot,
  )(true);
  const hold = answered.addListener.mock.lastCall?.[0] as (held: object) => Promise<object>;
  const redirected = { redirectUrl: location() };
  expect(await hold({ requestId: '1' })).toEqual(redirected);
  expect(await hold({ requestId: '1' })).toEqual({});
  expect(await hold({ requestId: '2' })).toEqual(redirected);
  expect(await hold({ requestId: 'left' })).toEqual({});
});

it('shows a depot neither cookies nor the page, which whoever is asked else is shown', async () => {
  await holdAnswers(async () => undefined, isAtDepot)(true);
  const [send, ...how] = sending.addListener.mock.lastCall ?? [];
  expect(how).toEqual([PAGES, ['blocking', 'requestHeaders']]);
  const lines = ['Host', 'Referer', 'cookie'].map((name) => ({ name, value: 'x' }));
  const sent = (url: string) => (send as (request: object) => unknown)({ url, requestHeaders: lines });
  const entry = location();
  const stepwise = entry.replace(/server=.*/, 'depot=rj-1&port=8472');
  for (const url of [entry, stepwise]) expect(sent(url)).toEqual({ requestHeaders: lines.slice(0, 1) });
  expect(sent('https://origin.example/file.iso?x=1')).toEqual({});
});
