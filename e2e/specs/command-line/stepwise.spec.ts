import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectHandedOver } from '../../fixtures/download-checks.ts';
import { FILE_BYTES, fileBody } from '../../fixtures/origin-content.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { expect, test } from '../../fixtures/test.ts';
import type { World } from '../../fixtures/world.ts';
import { sha256Hex } from '../../overlay/sample-bytes.ts';
import { findProgram } from '../../programs/find-program.ts';

test.use({ worldSpec: { unnamed: true } });

let dir: string;
test.beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'longhaul-stepwise-'));
});
test.afterEach(() => rmSync(dir, { recursive: true, force: true }));

function stepwiseLink(world: World, name: string): string {
  return world.masterLink(`${world.originUrl}/files/${name}`, { signalling: 'stepwise' });
}

function expectFetched(name: string): void {
  expect(sha256Hex(readFileSync(join(dir, name)))).toBe(sha256Hex(fileBody(name)));
}

test('curl is led from the master over the exit depot to the entry depot, which has the file', async ({
  world,
}) => {
  test.skip(findProgram('curl') === undefined, 'curl is not installed');
  const name = 'stepwise-curl.bin';
  const portOf = (id: string) => new URL(world.overlay.depot(id).url).port;
  await expectHandedOver(world, FILE_BYTES, async () => {
    const { code, output } = await runProgram(
      'curl',
      ['-sS', '-L', '-O', '-D', '-', stepwiseLink(world, name)],
      dir,
    );
    expect(code).toBe(0);
    expect(output.match(/^HTTP\/1\.1 [0-9]+/gm)).toEqual(['HTTP/1.1 307', 'HTTP/1.1 302', 'HTTP/1.1 200']);
    const authority = world.originUrl.slice('http://'.length);
    const [host, port] = authority.split(':');
    const [first = '', second = ''] = [...output.matchAll(/^location: (.*)\r$/gim)].map((match) => match[1]);
    const ticket = /\?([^&]*)/.exec(first)?.[1];
    expect(first).toBe(
      `${world.overlay.depot('d3').url}/files/${name}?${ticket}&server=${host}&port=${port}&scheme=http`,
    );
    expect(second).toBe(
      `${world.overlay.depot('d1').url}/files/${name}?${ticket}&depot=d3&port=${portOf('d3')}`,
    );
  });
  expectFetched(name);
});

const TOOLS = [
  { program: 'wget', args: ['-q'] },
  { program: 'aria2c', args: ['-q', '-x4', '-s4', '-k1M'] },
] as const;

for (const { program, args } of TOOLS) {
  test(`${program} is led stepwise to the same file`, async ({ world }) => {
    test.skip(findProgram(program) === undefined, `${program} is not installed`);
    const name = `stepwise-${program}.bin`;
    const result = await runProgram(program, [...args, stepwiseLink(world, name)], dir);
    expect(result).toEqual({ code: 0, output: '' });
    expectFetched(name);
  });
}

test('curl, called again after a break, resumes through the master', async ({ world }) => {
  test.skip(findProgram('curl') === undefined, 'curl is not installed');
  const name = 'stepwise-resumed.bin';
  const download = () => runProgram('curl', ['-sS', '-L', '-O', '-C', '-', stepwiseLink(world, name)], dir);
  world.origin.cutForDepots(`/files/${name}`, 2_000_000);
  // Whether the break shows at all is the entry depot's affair.
  if ((await download()).code !== 0) expect((await download()).code).toBe(0);
  expect(world.origin.cutsWaiting()).toBe(0);
  expectFetched(name);
});
