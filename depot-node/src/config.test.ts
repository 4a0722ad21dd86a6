import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readDepotConfig } from './config.ts';

const BASE = {
  id: 'd1',
  listen: { host: '127.0.0.1', port: 0 },
  stateDir: 'unused',
  master: { url: 'http://127.0.0.1:1', enrolmentSecretFile: 'unused' },
};

test.each([
  ['timeouts', 'stallSeconds'],
  ['failover', 'repairSeconds'],
  ['failover', 'outageSeconds'],
  ['stepwise', 'waitSeconds'],
])('a time that no timer holds is refused instead of being over at once: %s.%s', (part, key) => {
  expect(() => readDepotConfig({ ...BASE, [part]: { [key]: 3_000_000 } })).toThrow('at most 604800 seconds');
  expect(() => readDepotConfig({ ...BASE, [part]: { [key]: 604_800 } })).not.toThrow();
});

/** Full keys of the numbers in a configuration, with their values. */
function numbersOf(part: object, path = ''): (readonly [string, number])[] {
  return Object.entries(part).flatMap(([key, value]: [string, unknown]) => {
    if (typeof value === 'number') return [[path + key, value] as const];
    const isTable = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isTable ? numbersOf(value, `${path}${key}.`) : [];
  });
}

test('docs/limits.md lists every number that an operator may change, by its key and with its default', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'limits.md'), 'utf8');
  const rows = [...page.matchAll(/^\| depot\.yaml \| (.+?) \| (\S+) \|/gm)];
  const listed = rows.flatMap(([, keys = '', value]) =>
    [...keys.matchAll(/`(.+?)`/g)].map(([, key = '']) => [key, Number(value)] as const),
  );
  const given = new Set(['listen.port', 'stepwise.redirectStatus']);
  const defaults = numbersOf(readDepotConfig(BASE)).filter(([key]) => !given.has(key));
  expect(new Map(listed)).toEqual(new Map(defaults));
});

test('what contradicts something else is listed beside a value that is wrong in itself', () => {
  const attempt = () =>
    readDepotConfig({
      ...BASE,
      listen: { host: '::', port: 0 },
      integrity: { digest: 'sometimes' },
      entryGroup: { id: 'g', host: 'g.example', tls: { certFile: 'c', keyFile: 'k' } },
      timeouts: { stallSeconds: 60 },
      sockets: { client: { userTimeoutSeconds: 30 } },
      lanes: { control: 'x', leastBlockBytes: 100_000, firstBlockBytes: 50_000 },
    });
  for (const key of [
    'integrity.digest',
    'public',
    'entryGroup.tls',
    'sockets.client.userTimeoutSeconds',
    'lanes.control',
    'lanes.leastBlockBytes',
  ])
    expect(attempt).toThrow(`\n  - ${key}: `);
});
