import type { TestBrowser } from '../../browsers/browser.ts';
import { launchBrowser } from '../../browsers/launch-browser.ts';
import { jobState } from '../../fixtures/ask-addon.ts';
import { clickLink, expectDirect, expectFile, expectThroughDepots } from '../../fixtures/download-checks.ts';
import { openOptions } from '../../fixtures/options-page.ts';
import { FILE_BYTES } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';
import type { World } from '../../fixtures/world.ts';

test("the master's page turns a link into one through the master and shows the chain", async ({
  user,
  world,
}) => {
  const link = `${world.originUrl}/files/pasted.bin`;
  await openPlan(user, world, { url: link });
  expect(await user.text('#plan-title')).toBe('Through 2 depots: d1 and d3');
  expect(await fieldValues(user)).toContain(world.masterLink(link));
  expect(await user.evaluate('return document.title')).toBe('pasted.bin - Longhaul');
});

test('the page promises nothing of a file that nobody has seen, and says what its figures rest on', async ({
  user,
  world,
}) => {
  await openPlan(user, world, { url: `${world.originUrl}/files/there-is-no-such-file.bin` });
  const text = await user.text('main');
  expect(text).toMatch(/About .* instead of about .* over one direct connection, if/);
  expect(text).toContain('the file has 100 MB: that is an assumption');
  expect(text).toContain('no depot has fetched it yet');
  expect(text).toContain('as fast as the operator typed in: nobody has measured them');
  expect(text).not.toContain('times faster than direct');
});

test('what was asked stands in the address: reload, back and forward keep it', async ({ user, world }) => {
  const first = `${world.originUrl}/files/first.bin?a=1&b=%20`;
  const second = `${world.originUrl}/files/second.bin`;
  await user.goto(`${world.overlay.master.url}/`);
  await ask(user, first, '700 MB');
  await expectPlan(user, world.masterLink(first, { sizeBytes: 700e6 }));
  await ask(user, second, '');
  await expectPlan(user, world.masterLink(second));
  await user.goto(await user.evaluate<string>('return location.href'));
  await expectPlan(user, world.masterLink(second));
  await user.evaluate('history.back()');
  await expectPlan(user, world.masterLink(first, { sizeBytes: 700e6 }));
  expect(await fieldValues(user, '#url, #size')).toEqual([first, '700 MB']);
  await user.evaluate('history.back()');
  await expect.poll(() => fieldValues(user, '#url, #size')).toEqual(['', '']);
  await user.evaluate('history.forward()');
  await expectPlan(user, world.masterLink(first, { sizeBytes: 700e6 }));
});

test('a link without https:// is taken so, and the page says it; a size that is none is asked for again', async ({
  user,
  world,
}) => {
  const bare = new URL(world.originUrl).host;
  await user.goto(`${world.overlay.master.url}/?url=${bare}/files/bare.bin&size=big`);
  await expect.poll(() => user.text('[role=alert]')).toContain('Write the size as 700 MB, 1.5 GiB');
  await ask(user, `${bare}/files/bare.bin`, '1.5 GiB');
  await expectPlan(user, world.masterLink(`https://${bare}/files/bare.bin`, { sizeBytes: 1.5 * 2 ** 30 }));
  expect(await user.text('main')).toContain(`it is taken as https://${bare}/files/bare.bin`);
});

test('a line that the browser does not copy is selected, and nothing says that it was copied', async ({
  user,
  world,
}) => {
  await user.goto(`${world.overlay.master.url}/`);
  await user.evaluate(
    "Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new DOMException('', 'NotAllowedError')) } })",
  );
  const link = `${world.originUrl}/files/uncopied.bin`;
  await ask(user, link, '');
  await expectPlan(user, world.masterLink(link));
  await user.click('.copy-row button');
  await expect.poll(() => user.text('.copy-row button')).toBe('Selected');
  const selected =
    'const { value, selectionStart, selectionEnd } = document.activeElement; return value.slice(selectionStart, selectionEnd)';
  expect(await user.evaluate(selected)).toBe((await fieldValues(user, 'input.line'))[0]);
});

test('the page remembers for which shell its lines are', async ({ user, world }) => {
  const url = `${world.originUrl}/files/it's%20mine.bin`;
  await openPlan(user, world, { url });
  await user.click('input[value=powershell]');
  const lines = () => fieldValues(user, 'input.line');
  await expect.poll(async () => (await lines()).at(-3)).toContain(" -C - -o 'it''s mine.bin' 'http");
  await openPlan(user, world, { url });
  expect((await lines()).at(-3)).toMatch(/^curl\.exe --fail --location /);
  await user.click('input[value=cmd]');
  await expect.poll(async () => (await lines()).at(-3)).toContain(' -o "it\'s mine.bin" "http');
  await user.click('input[value=sh]');
  await expect.poll(async () => (await lines()).at(-3)).toContain(" -o 'it'\\''s mine.bin' 'http");
});

test('every word of its own is explained by a click, without a step for the back button', async ({
  user,
  world,
}) => {
  await openPlan(user, world, { url: `${world.originUrl}/files/explained.bin` });
  const before = await user.evaluate<number>('return history.length');
  await user.click('a[href="#word-lane"], a[href="#word-round-trip"]');
  const focused = () =>
    user.evaluate<string>(
      "return document.activeElement.id + ' ' + document.activeElement.checkVisibility()",
    );
  await expect.poll(focused).toMatch(/^word-(lane|round-trip) true$/);
  expect(await user.evaluate('return history.length')).toBe(before);
  const unexplained = await user.evaluate<string[]>(
    "return [...document.querySelectorAll('a.term')].map((term) => term.getAttribute('href')).filter((id) => !document.querySelector('dt' + id))",
  );
  expect(unexplained).toEqual([]);
});

test('on a phone nothing is wider than the screen, and a long link takes one line', async ({
  browserKind,
  world,
}) => {
  const phone = await launchBrowser(browserKind, {
    hosts: world.hosts,
    viewport: { width: 360, height: 780 },
  });
  try {
    const long = `${world.originUrl}/files/${'a-long-path/'.repeat(30)}${'name'.repeat(40)}.bin?${'x'.repeat(500)}`;
    const pages = [
      `${world.overlay.master.url}/?${new URLSearchParams({ url: long }).toString()}`,
      `${world.overlay.master.url}/get/${long.replace('://', '/').replace('origin.test', `${'longname'.repeat(6)}.elsewhere.test`)}`,
      `${world.overlay.master.url}/help`,
    ];
    for (const page of pages) {
      await phone.goto(page);
      if (page === pages[0]) await expect.poll(() => phone.text('#plan-title')).toContain('depots');
      const [width, tallest] = await phone.evaluate<[number, number]>(
        "return [document.documentElement.scrollWidth - document.documentElement.clientWidth, Math.max(...[...document.querySelectorAll('.line')].map((line) => line.clientHeight))]",
      );
      expect(width, page.slice(0, 60)).toBeLessThanOrEqual(0);
      expect(tallest, page.slice(0, 60)).toBeLessThan(60);
    }
  } finally {
    await phone.close();
  }
});

test('a refusal looks like the page, shows the address as text only, and leads back with the link', async ({
  user,
  world,
}) => {
  const link = `${world.privateUrl.replace('private.test', 'elsewhere.test')}/files/x.iso?a=1`;
  await user.goto(`${world.overlay.master.url}/get/${link.replace('://', '/')}`);
  expect(await user.text('code.line')).toBe(link);
  expect(await user.text('.brand')).toContain('Longhaul');
  const colours =
    "return [document.documentElement, document.querySelector('.brand')].map((part) => getComputedStyle(part).backgroundColor + getComputedStyle(part).color)";
  const refusalColours = await user.evaluate(colours);
  const leads = await user.evaluate<string[]>(
    "return [...document.querySelectorAll('a, form')].map((part) => new URL(part.href ?? part.action).origin)",
  );
  expect(new Set(leads)).toEqual(new Set([world.overlay.master.url]));
  await user.click('form button');
  await expectPageOf(
    user,
    "document.querySelector('[role=alert]')?.textContent",
    'does not serve that origin',
  );
  expect(await fieldValues(user, '#url')).toEqual([link]);
  expect(await user.evaluate(colours)).toEqual(refusalColours);
  // The last thing that comes and moves the others.
  await user.text('footer');
  await user.click('.card.error a');
  await expectPageOf(user, "document.querySelector(':target h2')?.textContent", 'origin-not-allowed');
});

test('the popup counts a running download down, and shows what it took when it is whole', async ({
  user,
  world,
}) => {
  await clickLink(user, world, '/files/huge-shown.bin');
  // Leaving the page at once would take the click back.
  await expect.poll(() => jobState(user, 'huge-shown.bin')).toBe('running');
  await user.goto(user.addonPage('popup.html'));
  await expect
    .poll(() => user.text('#downloads'))
    .toMatch(/huge-shown\.bin[^]*about \d+ sec left[^]*you[^]*d1[^]*d3[^]*origin/);
  await expect.poll(() => user.text('#downloads .source')).toBe('The chain, as its depots measure it now');
  await expect
    .poll(() => user.text('#downloads .chain'))
    .toMatch(/you[^]*MB\/s[^]*d1[^]*MB\/s[^]*d3[^]*MB\/s[^]*origin/);
  const secondsLeft = async () => Number(/(\d+) sec left/.exec(await user.text('body'))?.[1] ?? 0);
  const before = await secondsLeft();
  await expect.poll(secondsLeft).toBeLessThan(before);
  await expectFile(user, 'huge-shown.bin', 'huge-shown.bin', { timeout: 60_000 });
  await expect
    .poll(() => user.text('#done'))
    .toMatch(
      /huge-shown\.bin[^]*48 MB in \d+ sec[^]*predicted [^]*directly about [^]*operator typed in[^]*Show in folder/,
    );
});

test('the popup says that the master refused, and in which words', async ({ user, world }) => {
  await clickLink(user, world, `${world.privateUrl}/attachment/refused.bin`);
  await expectFile(user, 'refused.bin');
  await user.goto(user.addonPage('popup.html'));
  await expect
    .poll(() => user.text('#last-left'))
    .toMatch(/^refused\.bin came directly\. The master refused\. It said: .* \(origin-not-allowed\)$/);
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
  await openOptions(user);
  await expect.poll(() => fieldValues(user)).toContain(world.overlay.master.url);
  await user.evaluate(
    "document.querySelector('#smallest').value = '3'; document.querySelector('#smallest').dispatchEvent(new Event('input', { bubbles: true })); document.querySelector('#form').requestSubmit()",
  );
  await expect.poll(() => user.text('#saved')).not.toBe('');
  await openOptions(user);
  await expect.poll(() => fieldValues(user)).toContain('3');
});

test('the options page says whether a master serves whoever asks', async ({ user, world }) => {
  const tested = async (address: string) => {
    await openOptions(user);
    await expect.poll(() => fieldValues(user)).toContain(world.overlay.master.url);
    await user.evaluate("document.querySelector('#master').value = args[0]", address);
    await user.click('#test');
    await expect.poll(() => user.text('#master-error')).not.toMatch(/^(Asking…)?$/);
    return user.text('#master-error');
  };
  // The world's master serves its own origin only, to everybody.
  expect(await tested(world.overlay.master.url)).toMatch(/only sites that its operator has named/);
  const { port } = new URL(world.overlay.master.url);
  expect(await tested(`127.0.0.1:${port}`)).toMatch(/only sites that its operator has named/);
  expect(await tested(world.overlay.master.url)).toMatch(
    /It calls itself master\.test:\d+ \(Longhaul [^]*Depots ready now: 3 of 3/,
  );
  expect(await tested(world.originUrl)).toMatch(/^Something answers there, but not as a master does/);
  expect(await tested('http://master.test:1')).toMatch(/^Nothing answers there/);
});

test('when no depot is up, the page says so', async ({ user, world }) => {
  const ids = ['d1', 'd2', 'd3'];
  for (const id of ids) await world.overlay.depot(id).kill();
  try {
    await expect
      .poll(async () => {
        await openPlan(user, world, { url: `${world.originUrl}/files/nobody-there.bin` });
        return user.text('#plan-title');
      })
      .toBe('Direct: no depot is up');
    expect(await user.text('.depots')).toContain('lost');
  } finally {
    // Each waits until all are up.
    await Promise.all(ids.map((id) => world.overlay.restartDepot(id)));
  }
});

/** Opens the page with a question in its address and waits for the plan. */
async function openPlan(user: TestBrowser, world: World, question: Record<string, string>): Promise<void> {
  await user.goto(`${world.overlay.master.url}/?${new URLSearchParams(question).toString()}`);
  await user.text('#plan-title');
}

/** Fills in the form and sends it, as a visitor does. */
async function ask(user: TestBrowser, link: string, size: string): Promise<void> {
  await user.evaluate(
    "for (const [id, text] of Object.entries(args[0])) { const field = document.getElementById(id); field.value = text; field.dispatchEvent(new Event('input', { bubbles: true })); }",
    { url: link, size },
  );
  await user.click('form button');
}

async function expectPlan(user: TestBrowser, masterLink: string): Promise<void> {
  await expect.poll(() => fieldValues(user, 'input.line')).toContain(masterLink);
}

/** Waits for the page that a click leads to: while it comes, nobody can look at it. */
async function expectPageOf(user: TestBrowser, expression: string, text: string): Promise<void> {
  const look = () => user.evaluate<string | null>(`return ${expression} ?? null`).catch(() => null);
  await expect.poll(look).toContain(text);
}

/** The texts of form fields of the page. */
function fieldValues(user: TestBrowser, selector = 'input, textarea'): Promise<string[]> {
  return user.evaluate(
    'return [...document.querySelectorAll(args[0])].map((field) => field.value)',
    selector,
  );
}
