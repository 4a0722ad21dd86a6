import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeSettings, whyLeft } from '../../fixtures/ask-addon.ts';
import { clickLink, expectDirect, expectFile, expectThroughDepots } from '../../fixtures/download-checks.ts';
import { FILE_BYTES, fileBody } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';

test.use({ browserSpec: { asksWhere: true } });

let chosen: string;
test.beforeEach(() => {
  chosen = mkdtempSync(join(tmpdir(), 'longhaul-chosen-'));
});
test.afterEach(() => rmSync(chosen, { recursive: true, force: true }));

const isInChosen = (name: string): boolean => {
  const path = join(chosen, name);
  return existsSync(path) && readFileSync(path).equals(fileBody(name));
};

test('a folder that the user chose is kept, after one dialog', async ({ user, world }) => {
  test.skip(user.kind === 'chromium', 'Chromium without a window cancels all dialogs');
  await user.answerDialogs({ folder: chosen });
  const before = await user.dialogCount();
  await expectDirect(world, async () => {
    await clickLink(user, world, '/files/put-elsewhere.bin');
    await expect.poll(() => isInChosen('put-elsewhere.bin')).toBe(true);
  });
  expect(await user.dialogCount()).toBe(before + 1);
  expect(readdirSync(chosen)).toEqual(['put-elsewhere.bin']);
});

test('without a wasted byte, files come through depots to whatever folder the user chose, after one dialog', async ({
  user,
  world,
}) => {
  test.skip(user.kind === 'chromium', 'Chromium without a window cancels all dialogs');
  await changeSettings(user, { noWastedByte: true });
  await user.answerDialogs({ folder: chosen });
  const before = await user.dialogCount();
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/led-elsewhere.bin');
    await expect.poll(() => isInChosen('led-elsewhere.bin')).toBe(true);
  });
  expect(await user.dialogCount()).toBe(before + 1);
  expect(readdirSync(chosen)).toEqual(['led-elsewhere.bin']);
  await changeSettings(user, { noWastedByte: false });
});

test('"Save link as" saves where the user says', async ({ user, world }) => {
  test.skip(user.kind === 'chromium', "nothing reaches Chromium's context menu");
  await user.answerDialogs({ folder: chosen });
  const before = await user.dialogCount();
  await expectDirect(world, async () => {
    await user.goto(`${world.originUrl}/page?link=/files/saved-as.bin`);
    await user.saveLinkAs('#link');
    await expect.poll(() => isInChosen('saved-as.bin')).toBe(true);
  });
  expect(await user.dialogCount()).toBe(before + 1);
});

test('the usual folder, chosen in a dialog, is as good as without one', async ({ user, world }) => {
  test.skip(user.kind === 'chromium', 'Chromium without a window cancels all dialogs');
  await user.answerDialogs({ folder: user.downloadsDir });
  const before = await user.dialogCount();
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/put-here.bin');
    await expectFile(user, 'put-here.bin');
  });
  expect(await user.dialogCount()).toBe(before + 1);
});

test('whoever cancels the dialog is not asked again, and gets no file', async ({ user, world }) => {
  const asked = () => world.origin.requests.filter(({ url }) => url === '/files/unwanted.bin').length;
  const dialogs = async () => (user.kind === 'firefox' ? user.dialogCount() : 0);
  if (user.kind === 'firefox') await user.answerDialogs('cancel');
  const before = await dialogs();
  await clickLink(user, world, '/files/unwanted.bin');
  await expect.poll(asked).toBe(1);
  // What would follow has followed when the next download is there, or left alone in Chromium, which cancels it, too.
  if (user.kind === 'firefox') {
    await expect.poll(dialogs).toBe(before + 1);
    await user.answerDialogs({ folder: chosen });
    await clickLink(user, world, '/files/wanted.bin');
    await expect.poll(() => isInChosen('wanted.bin')).toBe(true);
    expect(await dialogs()).toBe(before + 2);
  } else await expect.poll(() => whyLeft(user)).toBe('saved-as');
  expect(asked()).toBe(1);
  expect(readdirSync(user.downloadsDir).filter((name) => name.startsWith('unwanted'))).toEqual([]);
});
