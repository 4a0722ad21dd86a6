import type { TestBrowser } from '../../browsers/browser.ts';
import { jobState } from '../../fixtures/ask-addon.ts';
import { clickLink, expectDirect, expectFile, expectThroughDepots } from '../../fixtures/download-checks.ts';
import { FILE_BYTES } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';

test("the master's page turns a link into an accelerated one and shows the chain", async ({
  user,
  world,
}) => {
  const link = `${world.originUrl}/files/pasted.bin`;
  await user.goto(`${world.overlay.master.url}/?url=${encodeURIComponent(link)}`);
  await expect.poll(() => user.text('body')).toContain('d1');
  const text = await user.text('body');
  expect(text).toContain('d3');
  expect(
    await user.evaluate<string>(
      "return document.body.innerHTML + [...document.querySelectorAll('input,textarea')].map((e) => e.value).join(' ')",
    ),
  ).toContain(world.masterLink(link));
});

test('the popup shows a running download and its depots', async ({ user, world }) => {
  await clickLink(user, world, '/files/large-shown.bin');
  // Leaving the page at once would take the click back.
  await expect.poll(() => jobState(user, 'large-shown.bin')).toBe('running');
  await user.goto(user.addonPage('popup.html'));
  await expect.poll(() => user.text('body')).toMatch(/large-shown\.bin[^]*via d3 → d1/);
  await expectFile(user, 'large-shown.bin');
});

test('switched off, the add-on leaves downloads alone; switched on again, it takes them', async ({
  user,
  world,
}) => {
  await user.goto(user.addonPage('popup.html'));
  await user.click('#enabled');
  await expect.poll(() => user.text('#enabled-text')).toBe('Off');
  await expectDirect(world, async () => {
    await clickLink(user, world, '/files/while-off.bin');
    await expectFile(user, 'while-off.bin');
  });
  await user.goto(user.addonPage('popup.html'));
  await user.click('#enabled');
  await expect.poll(() => user.text('#enabled-text')).toBe('On');
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/on-again.bin');
    await expectFile(user, 'on-again.bin');
  });
});

test('the options page keeps what is set', async ({ user, world }) => {
  await user.goto(user.addonPage('options.html'));
  await expect.poll(() => fieldValues(user)).toContain(world.overlay.master.url);
  await user.evaluate(
    "document.querySelector('#smallest').value = '3'; document.querySelector('#smallest').dispatchEvent(new Event('input', { bubbles: true })); document.querySelector('#form').requestSubmit()",
  );
  await expect.poll(() => user.text('#saved')).not.toBe('');
  await user.goto(user.addonPage('options.html'));
  await expect.poll(() => fieldValues(user)).toContain('3');
});

/** The texts of all form fields of the page. */
function fieldValues(user: TestBrowser): Promise<string[]> {
  return user.evaluate(
    "return [...document.querySelectorAll('input, textarea')].map((field) => field.value)",
  );
}
