import { expect, it, vi } from 'vitest';
import type { MessageHandlers } from './message-map.ts';

type Listener = (
  message: object,
  sender: { readonly url?: string },
  respond: (reply: object) => void,
) => boolean;

async function setUp() {
  let listener: Listener | undefined;
  vi.stubGlobal('chrome', {
    runtime: {
      getURL: (path: string) => `chrome-extension://longhaul/${path}`,
      onMessage: {
        addListener: (added: Listener) => {
          listener = added;
        },
      },
    },
  });
  const { answerMessages } = await import('./answer-messages.ts');
  const told: unknown[] = [];
  const tell = async (ask: unknown, from: string) => {
    told.push(ask, from);
    return null;
  };
  answerMessages({ clicked: tell, 'change-settings': tell } as unknown as MessageHandlers);
  const send = (message: object, url: string) => listener?.(message, { url }, () => undefined);
  return { send, told };
}

it('hears of clicks from pages of the web, and lets nothing else be told or asked from there', async () => {
  const { send, told } = await setUp();
  const page = 'https://evil.example/chrome-extension://longhaul/';
  expect(send({ name: 'change-settings', ask: { master: 'https://evil.example' } }, page)).toBe(false);
  expect(send({ name: 'clicked', ask: { keys: [] } }, page)).toBe(true);
  expect(told).toEqual([{ keys: [] }, page]);
  expect(send({ name: 'change-settings', ask: {} }, 'chrome-extension://longhaul/options.html')).toBe(true);
});
