import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileBody } from '../../fixtures/origin-content.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { expect, test } from '../../fixtures/test.ts';
import { sha256Hex } from '../../overlay/sample-bytes.ts';
import { findProgram } from '../../programs/find-program.ts';

// The tools resolve names on their own.
test.use({ worldSpec: { unnamed: true } });

let dir: string;
test.beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'longhaul-lines-'));
});
test.afterEach(() => rmSync(dir, { recursive: true, force: true }));

for (const [index, program] of ['curl', 'wget', 'aria2c'].entries()) {
  test(`the page's line for ${program} works as pasted into sh, and fails where there is no file`, async ({
    user,
    world,
  }) => {
    test.skip(findProgram(program) === undefined, `${program} is not installed`);
    const paste = async (path: string) => {
      const query = new URLSearchParams({ url: `${world.originUrl}${path}` });
      await user.goto(`${world.overlay.master.url}/?${query.toString()}`);
      await user.click('input[value=sh]');
      const lines = await user.evaluate<string[]>(
        "return [...document.querySelectorAll('input.line')].map((field) => field.value)",
      );
      return runProgram('sh', ['-c', lines.at(index - 3) ?? ''], dir);
    };
    const segment = `${program}%20%C4%91%C3%B3'%20$HOME%60id%60.bin`;
    expect(await paste(`/files/${segment}?a=1&b=2`)).toMatchObject({ code: 0 });
    const name = `${program} đó' $HOME\`id\`.bin`;
    expect(readdirSync(dir)).toEqual([name]);
    // The page spells the address as browsers do, and the origin's content follows its spelling.
    const spelled = world.origin.requests.findLast(({ url }) => url?.includes(program))?.url ?? '';
    const body = fileBody(spelled.slice('/files/'.length).split('?')[0] ?? '');
    expect(sha256Hex(readFileSync(join(dir, name)))).toBe(sha256Hex(body));
    rmSync(join(dir, name));
    expect((await paste(`/nothing-${program}.bin`)).code).not.toBe(0);
    expect(readdirSync(dir)).toEqual([]);
  });
}
