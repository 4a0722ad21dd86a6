import { readFile } from 'node:fs/promises';
import axe from 'axe-core';
import type { AddonPageName, TestBrowser } from '../../browsers/browser.ts';
import { launchBrowser } from '../../browsers/launch-browser.ts';
import { showEveryKind } from '../../fixtures/shown-addon.ts';
import { expect, test } from '../../fixtures/test.ts';

const PAGES = ['popup.html', 'options.html', 'welcome.html'] as const;
/** By which every page can be told to be filled. */
const FILLED: Readonly<Record<AddonPageName, string>> = {
  'popup.html': '#done .name',
  'options.html': '#history-rows th',
  'welcome.html': '#next',
};
/** A phone's width, and a window's at 400 %. */
const NARROW = { width: 320, height: 640 };
/** Of all pixels: letters are drawn a little differently by every version of a browser. */
const MOST_OTHER_PIXELS = 0.03;

// A browser of its own: what these pages are filled with stays in the add-on.
test.use({ browserSpec: { hosts: [] } });

for (const colours of ['light', 'dark'] as const) {
  test(`an accessibility checker finds nothing in the add-on's pages, in ${colours} colours`, async ({
    user,
  }) => {
    await showEveryKind(user);
    for (const page of PAGES) {
      await user.look({ colours, width: 420, height: 900 });
      await open(user, page);
      const found = await user.evaluate<string[]>(
        `${axe.source};
        const { violations } = await window.axe.run(document);
        return violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' '));`,
      );
      expect(found, page).toEqual([]);
    }
  });

  test(`the add-on's pages look as they did, in ${colours} colours`, async ({ user }, testInfo) => {
    await showEveryKind(user);
    const sizes = {
      'popup.html': [420, 860],
      'options.html': [680, 1700],
      'welcome.html': [640, 600],
    } as const;
    for (const page of PAGES) {
      const [width, height] = sizes[page];
      await user.look({ colours, width, height });
      await open(user, page);
      const path = testInfo.outputPath(`${page}.png`);
      await user.screenshot(path);
      expect(await readFile(path)).toMatchSnapshot(
        `${page.replace('.html', '')}-${colours}-${user.kind}.png`,
        {
          maxDiffPixelRatio: MOST_OTHER_PIXELS,
        },
      );
    }
  });
}

test('everything in the popup can be reached by the keyboard, in the order in which it is read', async ({
  user,
}) => {
  await showEveryKind(user);
  await open(user, 'popup.html');
  const wanted = await user.evaluate<number>(
    "return [...document.querySelectorAll('a, button, input, select')].filter((part) => part.checkVisibility()).length",
  );
  const reached: number[] = [];
  for (let step = 0; step < wanted; step += 1) {
    await user.press('Tab');
    reached.push(
      await user.evaluate<number>(
        "return [...document.querySelectorAll('a, button, input, select')].filter((part) => part.checkVisibility()).indexOf(document.activeElement)",
      ),
    );
  }
  expect(reached).toEqual([...Array(wanted).keys()]);
});

test('rules are written to a file and read from one, which changes nothing when it is broken', async ({
  user,
}) => {
  await showEveryKind(user);
  await open(user, 'options.html');
  await user.click('#export');
  const exported = await savedRules(user);
  expect(JSON.parse(exported)).toMatchObject({ never: ['shop.example'], smallestBytes: 2e6 });
  await chooseFile(user, exported.replace('"shop.example"', '"ht!p"'));
  await expect
    .poll(() => user.text('#imported'))
    .toMatch(/is not what it should be: never: "ht!p"\. Nothing/);
  await chooseFile(user, exported.replace('2000000', '7000000'));
  await expect.poll(() => user.text('#imported')).toMatch(/^Read\./);
  expect(await user.evaluate("return document.querySelector('#smallest').value")).toBe('7');
});

test('rules that are read from a file leave what is typed and not saved in the other fields', async ({
  user,
}) => {
  await showEveryKind(user);
  await open(user, 'options.html');
  await user.evaluate("document.querySelector('#private-hosts').value = 'typed.corp'");
  await chooseFile(
    user,
    JSON.stringify({
      format: 'longhaul-rules',
      version: 1,
      never: ['read.example'],
      always: [],
      kinds: { mode: 'all', kinds: [] },
      smallestBytes: 3e6,
      bypassKey: 'alt',
    }),
  );
  await expect.poll(() => user.text('#imported')).toMatch(/^Read\./);
  const values = () =>
    user.evaluate<string[]>(
      "return ['sites-never', 'smallest', 'private-hosts'].map((id) => document.getElementById(id).value)",
    );
  expect(await values()).toEqual(['read.example', '3', 'typed.corp']);
  await user.click('button[type=submit]');
  await expect.poll(() => user.text('#saved')).toBe('Saved');
  await open(user, 'options.html');
  expect(await values()).toEqual(['read.example', '3', 'typed.corp']);
});

test('what is said of a master is said of the one that stands in the field', async ({ user }) => {
  await open(user, 'welcome.html');
  await user.click('#next');
  await user.click('#next');
  // The background answers when the test wants it to.
  await user.evaluate(
    `const { runtime } = globalThis.browser ?? chrome;
    const send = runtime.sendMessage.bind(runtime);
    window.answers = new Map();
    runtime.sendMessage = (message) =>
      message.name === 'test-master'
        ? new Promise((answer) => window.answers.set(message.ask.master, (result) => answer({ ok: true, answer: result })))
        : send(message);
    window.type = (text) => {
      const field = document.querySelector('#master');
      field.value = text;
      field.dispatchEvent(new Event('input', { bubbles: true }));
    };`,
  );
  const type = (text: string) => user.evaluate('window.type(args[0])', text);
  const answer = (master: string, result: object) =>
    user.evaluate(
      'window.answers.get(args[0])(args[1]); await new Promise((go) => setTimeout(go));',
      master,
      result,
    );
  const said = () => user.evaluate<string>("return document.querySelector('#master-error').textContent");
  await type('first.example');
  await user.click('#test');
  await type('second.example');
  expect(await said()).toBe('');
  await user.click('#test');
  await answer('second.example', { result: 'refused', message: 'second' });
  await answer('first.example', { result: 'refused', message: 'first' });
  expect(await said()).toBe('The master refused: second');
  await type('third.example');
  expect(await said()).toBe('');
});

test('the welcome ends with what holds: a yes of before, and access that was refused', async ({ user }) => {
  const endBy = async (button: string) => {
    await open(user, 'welcome.html');
    await user.evaluate('(globalThis.browser ?? chrome).permissions.request = () => Promise.resolve(false)');
    await user.click('#next');
    await user.click('#next');
    await user.evaluate("document.querySelector('#master').value = 'get.example'");
    await user.click(button);
    return user.text('#outcome:not([hidden])');
  };
  expect(await endBy('#not-now')).toMatch(/^Longhaul is ready\./);
  await user.limitAccess([]);
  try {
    expect(await endBy('#yes')).toMatch(/^Longhaul may not reach every site/);
    expect(await endBy('#not-now')).toMatch(/^Longhaul may not reach every site/);
  } finally {
    await user.limitAccess('all');
  }
});

test('the options keep rules of every kind, and say which one is none', async ({ user }) => {
  await showEveryKind(user);
  await open(user, 'options.html');
  const fill = (values: Record<string, string>) =>
    user.evaluate(
      `for (const [id, value] of Object.entries(args[0])) document.getElementById(id).value = value;
      document.querySelector('#form').dispatchEvent(new Event('input', { bubbles: true }));
      document.querySelector('#form').requestSubmit();`,
      values,
    );
  await fill({ 'sites-always': 'mirror.example\nno site', 'kinds-mode': 'only', kinds: '.ISO tar.gz' });
  await expect.poll(() => user.text('#sites-always-error')).toMatch(/^“no site” is not a site/);
  await fill({ 'sites-always': '*.Mirror.example', 'bypass-key': 'shift' });
  await expect.poll(() => user.text('#saved')).toBe('Saved');
  await open(user, 'options.html');
  const values = await user.evaluate<string[]>(
    "return ['sites-never', 'sites-always', 'kinds-mode', 'kinds', 'bypass-key'].map((id) => document.getElementById(id).value)",
  );
  expect(values).toEqual(['shop.example', 'mirror.example', 'only', 'iso tar.gz', 'shift']);
});

test('the history can be erased', async ({ user }) => {
  await showEveryKind(user);
  await open(user, 'options.html');
  expect(await user.text('#history-totals')).toContain(': 212, together 81 GB');
  await user.click('#erase');
  await expect.poll(() => user.text('#no-history')).toBe('No download has come through depots yet.');
  const states = await user.addonCall<string[]>(
    'return (await (globalThis.browser ?? chrome).storage.local.get("jobs")).jobs.map(({ state }) => state)',
  );
  expect(states.length).toBeGreaterThan(0);
  for (const ended of ['done', 'lost']) expect(states).not.toContain(ended);
  await user.goto(user.addonPage('options.html'));
  await expect.poll(() => user.text('#no-history')).not.toBe('');
});

for (const [page, button, message, place] of [
  ['options.html', '#erase', 'erase-history', '#erase-problem'],
  ['popup.html', '#clear', 'clear-ended', '#state'],
] as const) {
  test(`the ${page} says that there was no room, where ${message} was refused`, async ({ user }) => {
    await showEveryKind(user);
    await open(user, page);
    await user.evaluate(
      `const { runtime } = globalThis.browser ?? chrome;
      const send = runtime.sendMessage.bind(runtime);
      runtime.sendMessage = async (message) =>
        message.name === args[0] ? { ok: false, error: 'Error' } : send(message);`,
      message,
    );
    await user.click(button);
    await expect.poll(() => user.text(place)).toMatch(/^The browser has no room left/);
  });
}

for (const [language, tag, sentence] of [
  ['pt_BR', 'pt-BR', 'Downloads em andamento'],
  ['vi', 'vi', 'Đang tải'],
  ['zh_CN', 'zh-CN', '正在下载'],
] as const) {
  test(`everything is said in ${tag}, and nothing is wider than a phone`, async ({ browserKind, world }) => {
    const user = await launchBrowser(browserKind, {
      hosts: [],
      addonDir: await world.buildAddon(browserKind, { language }),
    });
    try {
      await showEveryKind(user);
      await user.look({ colours: 'light', ...NARROW });
      for (const page of PAGES) {
        await open(user, page);
        if (page === 'popup.html') expect(await user.text('#running-part h2')).toBe(sentence);
        const [lang, empty, tooWide] = await user.evaluate<[string, string[], number]>(
          `return [
            document.documentElement.lang,
            [...document.querySelectorAll('[data-text]')].filter((part) => part.textContent === '').map((part) => part.dataset.text),
            document.documentElement.scrollWidth - document.documentElement.clientWidth,
          ]`,
        );
        expect({ page, lang, empty, tooWide }).toEqual({ page, lang: tag, empty: [], tooWide: 0 });
      }
    } finally {
      await user.close();
    }
  });
}

async function open(user: TestBrowser, page: AddonPageName): Promise<void> {
  await user.goto(user.addonPage(page));
  await expect.poll(() => user.text(FILLED[page])).not.toBe('');
}

/** The text of the file that the browser has saved. */
async function savedRules(user: TestBrowser): Promise<string> {
  let text = '';
  await expect
    .poll(async () => {
      text = await readFile(`${user.downloadsDir}/longhaul-rules.json`, 'utf8').catch(() => '');
      return text;
    })
    .toMatch(/\}\n$/);
  return text;
}

/** Gives the page a file as if the user had chosen it. */
async function chooseFile(user: TestBrowser, text: string): Promise<void> {
  await user.evaluate(
    `const field = document.querySelector('#import-file');
    const chosen = new DataTransfer();
    chosen.items.add(new File([args[0]], 'settings.json', { type: 'application/json' }));
    field.files = chosen.files;
    field.dispatchEvent(new Event('change'));`,
    text,
  );
}
