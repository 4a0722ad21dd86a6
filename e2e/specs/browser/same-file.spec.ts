import { clickLink, expectFile, expectThroughDepots } from '../../fixtures/download-checks.ts';
import { FILE_BYTES } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';

for (const [what, header] of [
  ['varies with the cookie', 'Vary=Accept-Encoding, Cookie'],
  ['is private', 'Cache-Control=private, max-age=60'],
  ['comes with a cookie', 'Set-Cookie=visit=2; Path=/personal'],
] as const) {
  test(`an answer that ${what} is the user's own, and nobody else asks for it`, async ({ user, world }) => {
    const name = `${header.split('=')[0]?.toLowerCase()}.bin`;
    const path = `/personal/${encodeURIComponent(header)}/${name}`;
    await clickLink(user, world, path);
    await expectFile(user, name);
    expect(world.origin.requests.filter(({ url }) => url === path)).toHaveLength(1);
  });
}

test("an answer with the user's own validator is not replaced by one of another", async ({ user, world }) => {
  await clickLink(user, world, '/personal/etag/validated.bin');
  await expectFile(user, 'validated.bin');
});

test('a form is never asked for without its content, however often it is sent', async ({ user, world }) => {
  for (let time = 1; time <= 12; time += 1) {
    await user.goto(`${world.originUrl}/form/sent-${time}.bin`);
    await user.click('#link');
    await expectFile(user, `sent-${time}.bin`);
  }
  const byDepots = world.origin.requests.filter(
    ({ url, headers }) => url?.startsWith('/form/') && headers.via,
  );
  expect(byDepots).toHaveLength(0);
});

test('a link that is good for two requests comes through depots: nobody spends one for a trial', async ({
  user,
  world,
}) => {
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/limited/2/twice.bin');
    await expectFile(user, 'twice.bin');
  });
  const asked = world.origin.requests.filter(({ url }) => url === '/limited/2/twice.bin');
  expect(asked).toHaveLength(2);
});

test('a link that is good for one request ends as a whole file', async ({ user, world }) => {
  test.skip(user.kind === 'firefox', 'Firefox has to end its own download first (docs/users.md)');
  await clickLink(user, world, '/limited/1/once.bin');
  await expectFile(user, 'once.bin');
});
