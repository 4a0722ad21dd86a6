import { whyLeft } from '../../fixtures/ask-addon.ts';
import { clickLink, expectFile } from '../../fixtures/download-checks.ts';
import { expect, test } from '../../fixtures/test.ts';

test('a download whose chain is far slower than planned moves to another one', async ({ user, world }) => {
  const path = '/slowing/d1/large-slow.bin';
  await clickLink(user, world, path);
  // A minute and a half at the rate of the first chain.
  await expectFile(user, 'large-slow.bin', 'large-slow.bin', { timeout: 75_000 });
  const byOther = world.origin.requests.filter(
    ({ url, headers }) => url === path && headers.via?.includes('longhaul-d2'),
  );
  expect(byOther).not.toHaveLength(0);
  const wholeAgain = byOther.filter(({ headers }) => /^(bytes=0-[0-9]{3,})?$/.test(headers.range ?? ''));
  // Chromium cannot leave the address that it was led to: there it starts anew, beside what it has.
  if (user.kind === 'firefox') expect(wholeAgain).toHaveLength(0);
  await user.goto(user.addonPage('popup.html'));
  await expect.poll(() => user.text('#done')).toContain('Its way was slow, so it was changed.');
});

test('a download whose chain is slow from the beginning stays with the browser, where that can go on with its own', async ({
  user,
  world,
}) => {
  test.skip(user.kind !== 'chromium', 'Firefox ends its own download before, and then leaves the chain');
  await clickLink(user, world, '/slow/d1/large-slow-at-once.bin');
  await expect.poll(() => whyLeft(user)).toBe('depot-silent');
  await expectFile(user, 'large-slow-at-once.bin');
});
