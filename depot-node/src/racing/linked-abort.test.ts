import { expect, test } from 'vitest';
import { LinkedAbort } from './linked-abort.ts';

test('is aborted with the reason of whichever aborts first, or by itself', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const linked = new LinkedAbort(one.signal, other.signal);
  expect(linked.signal.aborted).toBe(false);
  other.abort('second');
  one.abort('first');
  expect(linked.signal.reason).toBe('second');
  expect(new LinkedAbort(one.signal, other.signal).signal.reason).toBe('first');
  const own = new LinkedAbort(new AbortController().signal);
  own.abort('own');
  expect(own.signal.reason).toBe('own');
});

test('is aborted by nobody else once it is left, and aborts nobody', () => {
  const one = new AbortController();
  const linked = new LinkedAbort(one.signal);
  linked.leave();
  one.abort();
  expect(linked.signal.aborted).toBe(false);
  const other = new AbortController();
  new LinkedAbort(other.signal).abort();
  expect(other.signal.aborted).toBe(false);
});
