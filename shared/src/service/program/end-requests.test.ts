import { beforeEach, expect, test } from 'vitest';
import { EndRequests } from './end-requests.ts';

const TERMINATE = { urgency: 'drain', isSignal: true } as const;
const INTERRUPT = { urgency: 'soon', isSignal: true } as const;
const STARTER_GONE = { urgency: 'drain', isSignal: false } as const;

let nowMs: number;
let requests: EndRequests;
beforeEach(() => {
  nowMs = 1_000_000;
  requests = new EndRequests(() => nowMs);
});

test('a terminate drains, and a second one ends at once', () => {
  expect(requests.take(TERMINATE)).toBe('drain');
  nowMs += 2000;
  expect(requests.take(TERMINATE)).toBe('now');
  expect(requests.take(TERMINATE)).toBeUndefined();
});

test('one request that reaches a service twice, over npm and from the terminal, is one request', () => {
  expect(requests.take(TERMINATE)).toBe('drain');
  nowMs += 300;
  expect(requests.take(TERMINATE)).toBeUndefined();
});

test('an interrupt does not wait for a drain', () => {
  requests.take(TERMINATE);
  expect(requests.take(INTERRUPT)).toBe('soon');
  nowMs += 2000;
  expect(requests.take(INTERRUPT)).toBe('now');
});

test('a service that is about to end is not hurried because its starter ends as well', () => {
  requests.take(TERMINATE);
  nowMs += 2000;
  expect(requests.take(STARTER_GONE)).toBeUndefined();
});

test('a terminate after an interrupt is one that comes again', () => {
  expect(requests.take(INTERRUPT)).toBe('soon');
  expect(requests.take(TERMINATE)).toBeUndefined();
  nowMs += 2000;
  expect(requests.take(TERMINATE)).toBe('now');
});
