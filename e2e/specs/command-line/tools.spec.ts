import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectThroughAnyDepots, expectThroughDepots } from '../../fixtures/download-checks.ts';
import { FILE_BYTES, fileBody, LARGE_BYTES } from '../../fixtures/origin-content.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { expect, test } from '../../fixtures/test.ts';
import { sha256Hex } from '../../overlay/sample-bytes.ts';
import { findProgram } from '../../programs/find-program.ts';

test.use({ worldSpec: { unnamed: true } });

let dir: string;
test.beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'longhaul-tools-'));
});
test.afterEach(() => rmSync(dir, { recursive: true, force: true }));

const TOOLS = [
  { program: 'curl', args: ['-sS', '-L', '-O'], expectThrough: expectThroughDepots },
  { program: 'wget', args: ['-q'], expectThrough: expectThroughDepots },
  { program: 'aria2c', args: ['-q', '-x4', '-s4', '-k1M'], expectThrough: expectThroughAnyDepots },
] as const;

for (const { program, args, expectThrough } of TOOLS) {
  test(`${program} through the master gets the file byte-identical and under its name`, async ({ world }) => {
    test.skip(findProgram(program) === undefined, `${program} is not installed`);
    const name = `${program}.bin`;
    await expectThrough(world, FILE_BYTES, async () => {
      const result = await runProgram(
        program,
        [...args, world.masterLink(`${world.originUrl}/files/${name}`)],
        dir,
      );
      expect(result).toEqual({ code: 0, output: '' });
    });
    expect(sha256Hex(readFileSync(join(dir, name)))).toBe(sha256Hex(fileBody(name)));
  });
}

const RESUMERS = [
  { program: 'curl', args: ['-sS', '-L', '-O', '-C', '-'] },
  { program: 'wget', args: ['-q', '-c', '--tries=1'] },
] as const;

for (const { program, args } of RESUMERS) {
  test(`${program}, called again after its depot died, resumes through the master`, async ({ world }) => {
    test.skip(findProgram(program) === undefined, `${program} is not installed`);
    // Over one connection, at the origin's rate: six seconds.
    const name = `large-resumed-${program}.bin`;
    const download = () =>
      runProgram(program, [...args, world.masterLink(`${world.originUrl}/files/${name}`)], dir);
    const first = download();
    await expect.poll(() => sizeOf(join(dir, name)), { intervals: [50] }).toBeGreaterThan(500_000);
    await world.overlay.depot('d1').kill();
    expect((await first).code, 'the first attempt must notice the break').not.toBe(0);
    expect(sizeOf(join(dir, name))).toBeLessThan(LARGE_BYTES);
    await world.overlay.restartDepot('d1');
    expect((await download()).code).toBe(0);
    expect(sha256Hex(readFileSync(join(dir, name)))).toBe(sha256Hex(fileBody(name)));
    const ranges = world.origin.requests.filter(({ url }) => url === `/files/${name}`);
    expect(ranges.at(-1)?.headers.range, 'the second attempt goes on').toMatch(/^bytes=[1-9]/);
  });
}

for (const { program, args } of RESUMERS) {
  test(`${program}, called again for a file that depots do not get, resumes at the origin`, async ({
    world,
  }) => {
    test.skip(findProgram(program) === undefined, `${program} is not installed`);
    const name = `crowded-${program}.bin`;
    const whole = fileBody(name);
    writeFileSync(join(dir, name), whole.subarray(0, 100_000));
    const link = world.masterLink(`${world.originUrl}/crowded/${name}`);
    expect(await runProgram(program, [...args, link], dir)).toMatchObject({ code: 0 });
    expect(sha256Hex(readFileSync(join(dir, name)))).toBe(sha256Hex(whole));
    const asked = world.origin.requests.filter(({ url }) => url === `/crowded/${name}`);
    expect(asked.map(({ headers }) => [headers.range, headers.via !== undefined])).toEqual([
      ['bytes=100000-', true],
      ['bytes=100000-', false],
    ]);
  });
}

for (const [program, ...args] of [
  ['curl', '-sS', '-L', '-O'],
  ['wget', '-q', '--tries=1'],
  ['aria2c', '-q', '-x1'],
] as const) {
  test(`${program} does not notice that the way to the origin breaks`, async ({ world }) => {
    test.skip(findProgram(program) === undefined, `${program} is not installed`);
    const name = `unbroken-${program}.bin`;
    world.origin.cutForDepots(`/files/${name}`, 200_000);
    const link = world.masterLink(`${world.originUrl}/files/${name}`);
    expect(await runProgram(program, [...args, link], dir)).toMatchObject({ code: 0 });
    expect(sha256Hex(readFileSync(join(dir, name)))).toBe(sha256Hex(fileBody(name)));
    expect(world.origin.cutsWaiting()).toBe(0);
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

test('a browser that asks for a page is told why it gets none, and forwarded nowhere', async ({ world }) => {
  const link = `${world.overlay.master.url}/get/http/elsewhere.example/x`;
  const page = await fetch(link, { redirect: 'manual', headers: { Accept: 'text/html' } });
  expect(page.status).toBe(403);
  expect(page.headers.get('location')).toBeNull();
  const text = await page.text();
  expect(text).toContain('elsewhere.example');
  expect(text).not.toMatch(/http-equiv|<script|<a [^>]*elsewhere/);
});
