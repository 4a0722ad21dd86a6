import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import threads from 'node:worker_threads';
import { expect, type TestContext, test } from 'vitest';
import type { MasterEvent } from '../events.ts';
import { readAddress } from './address.ts';
import { PrefixFiles } from './prefix-files.ts';

function openFiles({ onTestFinished }: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-prefixes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const paths = { coverage: join(folder, 'coverage.txt'), asTable: join(folder, 'as.txt') };
  const events: MasterEvent[] = [];
  const files = new PrefixFiles(paths, (event) => events.push(event));
  const address = readAddress('10.1.2.3') ?? { isV6: false, high: 0, low: 0 };
  return {
    paths,
    events,
    files,
    write: (name: keyof typeof paths, text: string) => writeFileSync(paths[name], text),
    site: () => files.coverage(address)?.site,
    system: () => files.system(address)?.value,
  };
}

test('a coverage file that gets mistakes while the master runs leaves what it said before, and each is told', async (context) => {
  const { files, paths, events, write, site, system } = openFiles(context);
  write('coverage', '10.0.0.0/8 rj');
  write('asTable', '10.0.0.0/8 64500');
  await files.start();
  expect([site(), system()]).toEqual(['rj', 64_500]);
  write('coverage', '10.0.0.0/8 pe\nnonsense');
  write('asTable', '10.0.0.0/8 64501');
  await files.reload(paths);
  expect([site(), system()]).toEqual(['rj', 64_501]);
  expect(events.slice(2)).toContainEqual({
    type: 'prefixes-refused',
    file: 'coverage',
    code: 'prefixes-invalid',
    detail: `${paths.coverage}: line 2: a prefix and a site belong on each line`,
  });
  rmSync(paths.coverage);
  await files.reload(paths);
  expect(site()).toBe('rj');
  write('coverage', '10.0.0.0/8 pe');
  await files.reload(paths);
  expect(site()).toBe('pe');
  expect(files.views).toMatchObject([
    { file: 'coverage', prefixes: 1 },
    { file: 'asTable', prefixes: 1 },
  ]);
  await files.reload({ ...paths, coverage: undefined });
  expect([site(), system()], 'a file that is configured no more counts no more').toEqual([undefined, 64_501]);
});

test('a reload on a machine that can start no thread leaves what was there, and is told', async (context) => {
  const { files, paths, events, write, site } = openFiles(context);
  write('coverage', '10.0.0.0/8 rj');
  write('asTable', '10.0.0.0/8 64500');
  await files.start();
  write('coverage', '10.0.0.0/8 pe');
  const { Worker } = threads;
  const put = (worker: typeof Worker) => {
    threads.Worker = worker;
    syncBuiltinESMExports();
  };
  context.onTestFinished(() => put(Worker));
  // As Node does where the system refuses it.
  put(
    class extends Worker {
      constructor(...init: ConstructorParameters<typeof Worker>) {
        super(...init);
        void this.terminate();
        throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
      }
    },
  );
  expect(await files.reload(paths)).toBe(false);
  expect(site()).toBe('rj');
  expect(events.at(-1)).toMatchObject({
    type: 'prefixes-refused',
    detail: expect.stringContaining('thread'),
  });
  put(Worker);
  expect(await files.reload(paths)).toBe(true);
  expect(site()).toBe('pe');
});

test('a master does not start with a file that has mistakes, and every one is told', async (context) => {
  const { files, paths, write } = openFiles(context);
  write('coverage', '10.0.0.0/8');
  await expect(files.start()).rejects.toMatchObject({
    code: 'prefixes-invalid',
    detail: `\n  - ${paths.coverage}: line 1: a prefix and a site belong on each line\n  - ${paths.asTable}: it cannot be read: there is no such file (ENOENT)`,
  });
});

test('of reloads that overlap the newest file counts at the end', async (context) => {
  const { files, paths, write, site } = openFiles(context);
  write('coverage', '10.0.0.0/8 rj');
  write('asTable', '10.0.0.0/8 64500');
  await files.start();
  write('coverage', '10.0.0.0/8 pe');
  const first = files.reload(paths);
  write('coverage', '10.0.0.0/8 am');
  await Promise.all([first, files.reload(paths), files.reload(paths)]);
  expect(site()).toBe('am');
});

test('a reload while the master still starts is not undone by what the start has read', async (context) => {
  const { files, paths, write, site } = openFiles(context);
  // The start's own file takes long to read, the new one does not.
  write(
    'coverage',
    Array.from(
      { length: 100_000 },
      (_, at) => `10.${(at >> 8) & 255}.${at & 255}.${(at >> 16) * 64}/26 rj`,
    ).join('\n'),
  );
  write('asTable', '10.0.0.0/8 64500');
  const started = files.start();
  const newer = `${paths.coverage}.new`;
  writeFileSync(newer, '10.0.0.0/8 am');
  await files.reload({ ...paths, coverage: newer });
  await started;
  expect(site()).toBe('am');
});

test('requests are answered while a large table is read, and see the old table or the new one', async (context) => {
  const { files, paths, write, system } = openFiles(context);
  write('coverage', '');
  write('asTable', '10.0.0.0/8 64500');
  await files.start();
  const lines = Array.from(
    { length: 100_000 },
    (_, at) => `10.${(at >> 8) & 255}.${at & 255}.${(at >> 16) * 64}/26 64501`,
  );
  write('asTable', `${lines.join('\n')}\n10.1.2.0/24 64501`);
  const seen = new Set<number | undefined>();
  let turns = 0;
  const reading = files.reload(paths).then(() => 'done');
  while ((await Promise.race([reading, nextTurn()])) !== 'done') {
    turns += 1;
    seen.add(system());
  }
  expect(turns).toBeGreaterThan(10);
  seen.add(system());
  expect([...seen]).toEqual([64_500, 64_501]);
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => resolve());
  });
}
