import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  clickLink,
  expectFile,
  expectFirstThroughDepots,
  expectThroughDepots,
  filesWith,
} from '../../fixtures/download-checks.ts';
import { FILE_BYTES, fileBody } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';

test.beforeAll(({ user, world }) => expectFirstThroughDepots(user, world));

for (const name of [
  'relatório de março ção.bin',
  'tài liệu Việt Nam.bin',
  '资料与文件.bin',
  'документ ελληνικά עברית.bin',
  `a ${'long '.repeat(38)}name.bin`,
]) {
  test(`a file that the site calls "${name.slice(0, 30)}" has that name, through depots, too`, async ({
    user,
    world,
  }) => {
    await expectThroughDepots(world, FILE_BYTES, async () => {
      await clickLink(user, world, `/named/${encodeURIComponent(name)}/body.bin`);
      await expectFile(user, name, 'body.bin');
    });
  });
}

test('a name in the address is read as people write it', async ({ user, world }) => {
  const name = 'địa chỉ 100.bin';
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, `/files/${encodeURIComponent(name)}`);
    await expectFile(user, name, encodeURIComponent(name));
  });
});

for (const [what, address, name] of [
  ['a program that makes it', 'download.php?id=5', 'download.zip'],
  ['a number', '12345', '12345.zip'],
] as const) {
  test(`a file of a site that names it after ${what} has the extension of its type, by the add-on and by a link of the master`, async ({
    user,
    world,
  }) => {
    const [body = ''] = address.split('?');
    const path = `/unnamed/${encodeURIComponent('application/zip')}/${address}`;
    for (const link of [path, world.masterLink(world.originUrl + path)]) {
      await expectThroughDepots(world, FILE_BYTES, async () => {
        await clickLink(user, world, link);
        await expectFile(user, name, body);
      });
      rmSync(join(user.downloadsDir, name));
    }
  });
}

test('a file whose name is there already is kept beside it', async ({ user, world }) => {
  await clickLink(user, world, '/files/twin.bin');
  await expectFile(user, 'twin.bin');
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/named/twin.bin/other.bin');
    await expect
      .poll(() => filesWith(user, fileBody('other.bin')))
      .toEqual([expect.stringMatching(/^twin ?\(1\)\.bin$/)]);
  });
  expect(readFileSync(join(user.downloadsDir, 'twin.bin')).equals(fileBody('twin.bin'))).toBe(true);
});

test('what the site says a name is cannot leave the downloads folder', async ({ user, world }) => {
  await clickLink(user, world, `/named/${encodeURIComponent('../../etc/.profile‮nib.bin')}/trap.bin`);
  const found = () => filesWith(user, fileBody('trap.bin'));
  await expect.poll(() => found().length).toBe(1);
  expect(found()[0]).not.toMatch(/^\.|\/|‮/);
});
