import { expect, test } from 'vitest';
import { ClientFlows } from './client-flows.ts';

const CLIENT = '192.0.2.1/32';

test('a download that runs alone has all that goes to its client, whatever went there before and elsewhere', () => {
  const flows = new ClientFlows();
  const before = flows.begin(CLIENT, 'before', false);
  before.note(1000);
  before.end();
  const elsewhere = flows.begin('192.0.2.2/32', 'elsewhere', false);
  const own = flows.begin(CLIENT, 'own', false);
  expect(own.share()).toBe(1);
  elsewhere.note(500);
  own.note(100);
  expect(own.share()).toBe(1);
});

test('of downloads that run beside each other each has its share of what has gone to their client since it began', () => {
  const flows = new ClientFlows();
  const first = flows.begin(CLIENT, 'first', false);
  first.note(600);
  const second = flows.begin(CLIENT, 'second', false);
  first.note(100);
  second.note(300);
  second.end();
  expect([first.share(), second.share()]).toEqual([0.7, 0.75]);
  first.note(1000);
  expect(first.share()).toBe(0.85);
});

test('connections of one job that ask for parts are one download; each that asks for the whole is one by itself', () => {
  const flows = new ClientFlows();
  const [one, other] = [flows.begin(CLIENT, 'parts', true), flows.begin(CLIENT, 'parts', true)];
  one.note(100);
  other.note(300);
  expect([one.share(), other.share()]).toEqual([1, 1]);
  const wholes = [flows.begin(CLIENT, 'wholes', false), flows.begin(CLIENT, 'wholes', false)];
  for (const whole of wholes) whole.note(200);
  expect(wholes.map((whole) => whole.share())).toEqual([0.5, 0.5]);
  expect(one.share()).toBe(0.5);
});

test('of clients that have nothing running nothing is remembered', () => {
  const flows = new ClientFlows();
  const all = ['a', 'b', 'c'].flatMap((client) =>
    ['one', 'one', 'other'].map((job) => flows.begin(client, job, true)),
  );
  expect(flows.size).toBe(3);
  for (const own of all) own.end();
  expect(flows.size).toBe(0);
});
