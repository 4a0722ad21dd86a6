import { expect, test } from 'vitest';
import { JobAuthorities } from './job-authorities.ts';

const urlOf = (host: string, port: number) =>
  ({ scheme: 'http', host, port, path: '/', query: null }) as const;
const count = (from: number) => Array.from({ length: 40 }, (_, index) => from + index);

test('a host counts once for http and https', () => {
  const authorities = new JobAuthorities();
  const reached = count(0).filter(
    (host) =>
      authorities.mayReach('j', urlOf(`m${host}.example`, 80)) &&
      authorities.mayReach('j', urlOf(`m${host}.example`, 443)),
  );
  expect(reached).toEqual(count(0).slice(0, 16));
  expect(authorities.mayReach('j', urlOf('m0.example', 443))).toBe(true);
  expect(authorities.mayReach('other', urlOf('m39.example', 80))).toBe(true);
});

test('each other port of a host counts as a host', () => {
  const authorities = new JobAuthorities();
  const reached = count(8000).filter((port) => authorities.mayReach('j', urlOf('m.example', port)));
  expect(reached).toEqual(count(8000).slice(0, 16));
});
