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
  ['stepwise', 'waitSeconds'],
])('a time that no timer holds is refused instead of being over at once: %s.%s', (part, key) => {
  expect(() => readDepotConfig({ ...BASE, [part]: { [key]: 3_000_000 } })).toThrow('at most 604800 seconds');
  expect(() => readDepotConfig({ ...BASE, [part]: { [key]: 604_800 } })).not.toThrow();
});
