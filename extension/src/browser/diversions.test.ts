import { expect, it, vi } from 'vitest';
import { browserDiversions } from './diversions.ts';

const { event } = vi.hoisted(() => ({
  event: { addListener: vi.fn<() => void>(), removeListener: vi.fn<() => void>(), hasListener: () => false },
}));
vi.mock('./browser-api.ts', () => ({
  api: {
    // Firefox is about to get Chromium's event.
    downloads: { onDeterminingFilename: {} },
    webRequest: { onHeadersReceived: event },
  },
}));

it('holds answers whatever events Firefox has, but none that a frame waits for: its page may forbid it to come from elsewhere', () => {
  browserDiversions(async () => undefined).holdAnswers(true);
  expect(event.addListener.mock.calls).toEqual([
    [
      expect.any(Function),
      { urls: ['http://*/*', 'https://*/*'], types: ['main_frame'] },
      ['blocking', 'responseHeaders'],
    ],
  ]);
});
