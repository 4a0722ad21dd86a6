import { expect, it, vi } from 'vitest';

const registered: unknown[] = [];
const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<undefined>();

vi.mock('./browser-api.ts', () => ({
  api: {
    scripting: {
      getRegisteredContentScripts: async () => {
        const now = [...registered];
        await mayAnswer;
        return now;
      },
      registerContentScripts: async (scripts: unknown[]) => void registered.push(...scripts),
      unregisterContentScripts: async () => void registered.splice(0),
    },
  },
}));

it('does of two wishes at once the one that came last', async () => {
  const { watchClicks } = await import('./page-script.ts');
  const both = Promise.all([watchClicks(true), watchClicks(false)]);
  answer(undefined);
  await both;
  expect(registered).toEqual([]);
});
