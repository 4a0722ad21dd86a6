import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectThroughAnyDepots, expectThroughDepots } from '../../fixtures/download-checks.ts';
import { FILE_BYTES, fileBody } from '../../fixtures/origin-content.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { expect, test } from '../../fixtures/test.ts';
import { sha256Hex } from '../../overlay/sample-bytes.ts';
import { findProgram } from '../../tools/find-program.ts';

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
  test(`${program}, called again after a break, resumes through the master`, async ({ world }) => {
    test.skip(findProgram(program) === undefined, `${program} is not installed`);
    const name = `resumed-${program}.bin`;
    const download = () =>
      runProgram(program, [...args, world.masterLink(`${world.originUrl}/files/${name}`)], dir);
    world.origin.cutForDepots(`/files/${name}`, 2_000_000);
    expect((await download()).code, 'the first attempt must notice the break').not.toBe(0);
    expect((await download()).code).toBe(0);
    expect(sha256Hex(readFileSync(join(dir, name)))).toBe(sha256Hex(fileBody(name)));
  });
}

test('aria2c goes on after a break by itself, by the links that the master gave', async ({ world }) => {
  test.skip(findProgram('aria2c') === undefined, 'aria2c is not installed');
  const path = '/files/resumed-aria2c.bin';
  world.origin.cutForDepots(path, 2_000_000);
  const result = await runProgram('aria2c', ['-q', '-x1', world.masterLink(world.originUrl + path)], dir);
  expect(result.code).toBe(0);
  expect(sha256Hex(readFileSync(join(dir, 'resumed-aria2c.bin')))).toBe(
    sha256Hex(fileBody('resumed-aria2c.bin')),
  );
  expect(world.origin.cutsWaiting()).toBe(0);
});

test('a browser that asks for a page is told why it gets none, and forwarded nowhere', async ({ world }) => {
  const link = `${world.overlay.master.url}/get/http/elsewhere.example/x`;
  const page = await fetch(link, { redirect: 'manual', headers: { Accept: 'text/html' } });
  expect(page.status).toBe(403);
  expect(page.headers.get('location')).toBeNull();
  const text = await page.text();
  expect(text).toContain('elsewhere.example');
  expect(text).not.toMatch(/http-equiv|<script|<a [^>]*elsewhere/);
});
