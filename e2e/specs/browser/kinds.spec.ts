import { expectFile, filesWith } from '../../fixtures/download-checks.ts';
import { FILES_OF_ALL_KINDS } from '../../fixtures/file-kinds.ts';
import { fileBody } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';

/** Chromium asks whether to keep these, however they come, until somebody has used their site for a day. */
const ASKED_ABOUT = /\.(deb|rpm|jar|apk)$/;

// A browser of its own: Chromium asks whether to keep some kinds, and nobody answers.
test.use({ browserSpec: { allowInsecureDownloads: true } });

test('files of all everyday kinds come through depots, under their names', async ({ user, world }) => {
  test.setTimeout(240_000);
  await user.goto(`${world.originUrl}/kinds/`);
  for (const [index, name] of FILES_OF_ALL_KINDS.entries()) {
    await user.click(`#kind-${index}`);
    const byDepots = () =>
      world.origin.requests.filter(({ url, headers }) => url === `/kinds/${name}` && headers.via).length;
    // The next click would take back what is not under way.
    await expect
      .poll(byDepots, { intervals: [50], message: `${name} is asked for by depots` })
      .toBeGreaterThan(0);
  }
  for (const name of FILES_OF_ALL_KINDS) {
    if (user.kind === 'chromium' && ASKED_ABOUT.test(name))
      await expect.poll(() => filesWith(user, fileBody(name))).not.toEqual([]);
    else await expectFile(user, name);
  }
});
