import { getEventListeners, once } from 'node:events';
import { expect, test } from 'vitest';
import { JoinedSignal } from './joined-signal.ts';

test('a joined signal aborts with the first of its sources, for its reason, and leaves nothing in the others', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const joined = new JoinedSignal([one.signal, other.signal], 60_000);
  other.abort('the other');
  one.abort('too late');
  expect(joined.signal.reason).toBe('the other');
  for (const { signal } of [one, other]) expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a joined signal of which a source has aborted before is aborted from the start', () => {
  const one = new AbortController();
  const joined = new JoinedSignal([one.signal, AbortSignal.abort('before')], 60_000);
  expect(joined.signal.reason).toBe('before');
  expect(getEventListeners(one.signal, 'abort')).toEqual([]);
});

test('a joined signal aborts by itself when it is late', async () => {
  const joined = new JoinedSignal([], 1);
  const keepAlive = setTimeout(() => undefined, 60_000);
  await once(joined.signal, 'abort');
  clearTimeout(keepAlive);
  expect(joined.signal.reason).toBeInstanceOf(Error);
});

test('a joined signal that was released stays as it is, and holds nothing', () => {
  const one = new AbortController();
  const joined = new JoinedSignal([one.signal], 60_000);
  joined.release();
  expect(getEventListeners(one.signal, 'abort')).toEqual([]);
  one.abort();
  expect(joined.signal.aborted).toBe(false);
});
