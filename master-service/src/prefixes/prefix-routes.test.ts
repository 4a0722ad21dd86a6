import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rawGet, rawRequest } from '../testing/raw-request.ts';
import { startMaster, type TestMaster } from '../testing/start-master.ts';
import { registerDepots } from '../testing/test-depot.ts';

let folder: string;
let coverage: string;
let master: TestMaster;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-prefixes-'));
  coverage = join(folder, 'coverage.txt');
  writeFileSync(coverage, '127.0.0.0/8 rj\nAS64500 sp');
});
afterEach(async () => {
  await master.master.close();
  rmSync(folder, { recursive: true });
});

const start = (config: object = {}) =>
  startMaster({ config: { prefixes: { site: 'df' }, ...config }, prefixPaths: { coverage } });

test('an operator is told where an address is, and by what', async () => {
  master = await start();
  const ask = async (of: string) => (await rawGet(master.port, `/v1/prefixes?of=${of}`)).body;
  expect(JSON.parse(await ask('127.0.0.1'))).toEqual({
    of: '127.0.0.1',
    place: { site: { name: 'rj', rule: 'coverage' } },
    said: [
      { rule: 'coverage', prefix: '127.0.0.0/8', site: 'rj', isFixed: false },
      { rule: 'asked', site: 'df' },
    ],
    tables: [{ file: 'coverage', prefixes: 1, bytes: expect.any(Number) as number }],
  });
  expect(JSON.parse(await ask('2001:db8::/32'))).toMatchObject({
    place: { site: { name: 'df', rule: 'asked' } },
  });
});

test.each(['', '?of=', '?of=example.org', '?of=1.2.3.4&of=1.2.3.5', '?of=10.0.0.0/99'])(
  'who asks /v1/prefixes%s is told that this is no address',
  async (query) => {
    master = await start();
    expect(await rawGet(master.port, `/v1/prefixes${query}`)).toMatchObject({ status: 400 });
  },
);

test('nobody else is told, not even that there is something to ask', async () => {
  master = await start({ metricsNetworks: ['192.0.2.0/24'] });
  expect(await rawGet(master.port, '/v1/prefixes?of=127.0.0.1')).toMatchObject({ status: 404 });
});

test('a plan says whose site its client is of, until the operator says otherwise', async () => {
  master = await start();
  await registerDepots(master, 'd1', 'd2');
  const reasons = async (path: string) => {
    const body = JSON.stringify({ url: `https://origin.example/${path}` });
    const answer = await fetch(`${master.url}/v1/plans`, { method: 'POST', body });
    return ((await answer.json()) as { reasons: string[] }).reasons;
  };
  expect(await reasons('one')).toContain(
    'The client counts as one of the site rj, as the operator says of its network.',
  );
  writeFileSync(coverage, '127.0.0.0/8 pe');
  await master.master.reloadPrefixes({}, { coverage });
  expect(await reasons('two')).toContain(
    'The client counts as one of the site pe, as the operator says of its network.',
  );
});

test('another site counts when the files beside it were taken, and not before', async () => {
  master = await start();
  const siteOf = async (of: string) =>
    (JSON.parse((await rawGet(master.port, `/v1/prefixes?of=${of}`)).body) as { place: unknown }).place;
  const asked = (name: string) => ({ site: { name, rule: 'asked' } });
  writeFileSync(coverage, 'nonsense');
  const refused = master.master.reloadPrefixes({ site: 'pe' }, { coverage });
  expect(await siteOf('192.0.2.1')).toEqual(asked('df'));
  expect(await refused).toBe(false);
  expect(await siteOf('192.0.2.1')).toEqual(asked('df'));
  writeFileSync(coverage, '10.0.0.0/8 rj');
  expect(await master.master.reloadPrefixes({ site: 'pe' }, { coverage })).toBe(true);
  expect(await siteOf('192.0.2.1')).toEqual(asked('pe'));
  expect(await master.master.reloadPrefixes({ site: 'sp' }, {}), 'without files').toBe(true);
  expect(await siteOf('192.0.2.1')).toEqual(asked('sp'));
});

test('an operator sees tables, look-ups and refused files in the metrics', async () => {
  master = await start();
  await rawGet(master.port, '/get/https/origin.example/x');
  writeFileSync(coverage, 'nonsense');
  await master.master.reloadPrefixes({}, { coverage });
  const { body } = await rawRequest(master.port, 'GET /metrics HTTP/1.1');
  expect(body).toContain('longhaul_master_prefixes{table="coverage"} 1');
  expect(body).toContain('longhaul_master_places_total{rule="coverage"} 1');
  expect(body).toContain('longhaul_master_prefix_files_read_total{file="coverage",outcome="loaded"} 1');
  expect(body).toContain(
    'longhaul_master_prefix_files_read_total{file="coverage",outcome="prefixes-invalid"} 1',
  );
});
