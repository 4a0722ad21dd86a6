import { expect, it } from 'vitest';
import { memoryArea } from '../testing/memory-area.ts';
import { ConsentStore } from './consent-store.ts';

it('has no consent before the user gives it, whatever else is stored', async () => {
  const consent = new ConsentStore(
    memoryArea({ settings: { master: 'https://master.example' }, consent: 'yes' }),
  );
  expect(await consent.isGiven()).toBe(false);
  await consent.give();
  expect(await consent.isGiven()).toBe(true);
});
