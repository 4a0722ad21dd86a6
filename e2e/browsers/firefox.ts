import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AddonPageName, Appearance, HeldKey, Key, LaunchOptions, TestBrowser } from './browser.ts';
import { type BrowserHome, createBrowserHome } from './browser-home.ts';
import { requireBrowser } from './find-browsers.ts';
import {
  answerFileDialogs,
  chooseMenuEntry,
  chooseSaveLink,
  countFileDialogs,
  type DialogAnswer,
  runPrivileged,
} from './firefox-dialogs.ts';
import { firefoxPrefs } from './firefox-prefs.ts';
import { FirefoxProcess } from './firefox-process.ts';
import { openFirefoxSession, setViewport } from './firefox-session.ts';
import { Marionette } from './marionette.ts';
import { withNameServer } from './own-names.ts';
import { fromJson, toExpression } from './page-script.ts';

/** How long Firefox may take to end by itself, in ms. */
const QUIT_TIMEOUT_MS = 15_000;
/** How long a page of the add-on may take to open. */
const TAB_TIMEOUT_MS = 10_000;

const LEFT_BUTTON = 0;
const RIGHT_BUTTON = 2;

/** WebDriver's codes of keys that write nothing. */
const KEY_CODES: Readonly<Record<HeldKey, string>> = { Shift: '\uE008', Control: '\uE009', Alt: '\uE00A' };
/** As WebDriver knows them. */
const KEYS: Readonly<Record<Key, string>> = { Tab: '\uE004', Enter: '\uE006', Space: ' ' };

/** The key under which WebDriver passes references to elements. */
const ELEMENT_KEY = 'element-6066-11e4-a52e-4f735466cecf';

/** Starts Firefox without a window. Rejects when it is not installed, does not start, or refuses the add-on. */
export async function launchFirefox(options: LaunchOptions): Promise<TestBrowser> {
  const executable = requireBrowser('firefox');
  const { addonDir } = options;
  const addon = addonDir === undefined ? undefined : { id: await readGeckoId(addonDir), uuid: randomUUID() };
  const home = await createBrowserHome('firefox');
  await writeFile(join(home.profileDir, 'user.js'), firefoxPrefs(home, options, addon));
  const startAnew = () => start(executable, home, options);
  try {
    return new Firefox(await startAnew(), home, addon && `moz-extension://${addon.uuid}`, startAnew);
  } catch (error) {
    await home.remove();
    throw error;
  }
}

/** A Firefox that runs. */
interface Started {
  readonly process: FirefoxProcess;
  readonly marionette: Marionette;
}

async function start(executable: string, home: BrowserHome, options: LaunchOptions): Promise<Started> {
  // That of the Firefox before.
  await rm(join(home.profileDir, 'MarionetteActivePort'), { force: true });
  const firefox = new FirefoxProcess(await withNameServer(home, executable, options.nameServer), home);
  try {
    const marionette = await Marionette.connect(await firefox.marionettePort());
    await openFirefoxSession(marionette, options);
    const { addonDir: path } = options;
    if (path !== undefined) await marionette.send('Addon:Install', { path, temporary: true });
    return { process: firefox, marionette };
  } catch (error) {
    await firefox.ended(0);
    throw error;
  }
}

class Firefox implements TestBrowser {
  readonly kind = 'firefox';
  readonly downloadsDir: string;
  readonly #home: BrowserHome;
  readonly #addonOrigin: string | undefined;
  readonly #startAnew: () => Promise<Started>;
  #started: Started;
  #addonTab: string | undefined;

  constructor(
    started: Started,
    home: BrowserHome,
    addonOrigin: string | undefined,
    startAnew: () => Promise<Started>,
  ) {
    this.#started = started;
    this.#home = home;
    this.#addonOrigin = addonOrigin;
    this.#startAnew = startAnew;
    this.downloadsDir = home.downloadsDir;
  }

  get #marionette(): Marionette {
    return this.#started.marionette;
  }

  async restart(): Promise<void> {
    await this.#quit();
    this.#addonTab = undefined;
    this.#started = await this.#startAnew();
  }

  async goto(url: string): Promise<void> {
    await this.#marionette.send('WebDriver:Navigate', { url });
  }

  async click(selector: string, held?: HeldKey): Promise<void> {
    await this.#press(selector, LEFT_BUTTON, held);
  }

  async unloadBackground(): Promise<void> {
    const host = new URL(this.#addonUrl('')).host;
    await runPrivileged(
      this.#marionette,
      'return WebExtensionPolicy.getByHostname(arguments[0]).extension.terminateBackground()',
      [host],
    );
  }

  async limitAccess(hosts: readonly string[] | 'all'): Promise<void> {
    const granted = hosts === 'all' ? ['http://*/*', 'https://*/*'] : hosts.map((host) => `http://${host}/*`);
    await runPrivileged(
      this.#marionette,
      `const { ExtensionPermissions } = ChromeUtils.importESModule('resource://gre/modules/ExtensionPermissions.sys.mjs');
      const [host, origins] = arguments;
      const { extension } = WebExtensionPolicy.getByHostname(host);
      return (async () => {
        const current = await ExtensionPermissions.get(extension.id);
        const none = { permissions: [], data_collection: [] };
        // Firefox removes them from the very list that it gave: of that one, it would leave every other.
        await ExtensionPermissions.remove(extension.id, { ...none, origins: [...current.origins] }, extension);
        await ExtensionPermissions.add(extension.id, { ...none, origins }, extension);
      })();`,
      [new URL(this.#addonUrl('')).host, granted],
    );
  }

  answerDialogs(answer: DialogAnswer): Promise<void> {
    return answerFileDialogs(this.#marionette, answer);
  }

  dialogCount(): Promise<number> {
    return countFileDialogs(this.#marionette);
  }

  async saveLinkAs(selector: string): Promise<void> {
    await this.#press(selector, RIGHT_BUTTON);
    await chooseSaveLink(this.#marionette);
  }

  async chooseFromMenu(selector: string, { title }: { readonly title: string }): Promise<void> {
    await this.#press(selector, RIGHT_BUTTON);
    await chooseMenuEntry(this.#marionette, title);
  }

  async press(key: Key): Promise<void> {
    const handle = await this.#marionette.ask<string>('WebDriver:GetWindowHandle', {});
    // Keys go to a tab behind another one, but do not press its buttons.
    await this.#marionette.send('WebDriver:SwitchToWindow', { handle, focus: true });
    const value = KEYS[key];
    const actions = [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ];
    await this.#marionette.send('WebDriver:PerformActions', {
      actions: [{ type: 'key', id: 'keyboard', actions }],
    });
  }

  async #press(selector: string, button: number, held?: HeldKey): Promise<void> {
    const element = await this.#find(selector);
    await this.#marionette.send('WebDriver:ExecuteScript', { script: SHOW, args: [element] });
    // Not ElementClick: that waits for a page to load, which never happens when the link becomes a download.
    const actions = [
      { type: 'pointerMove', x: 0, y: 0, duration: 0, origin: element },
      { type: 'pointerDown', button },
      { type: 'pointerUp', button },
    ];
    const mouse = { type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions };
    await this.#marionette.send('WebDriver:PerformActions', {
      actions: held ? [heldDuring(held, actions.length), mouse] : [mouse],
    });
  }

  async text(selector: string): Promise<string> {
    const element = await this.#find(selector);
    return this.#marionette.ask<string>('WebDriver:GetElementText', { id: element[ELEMENT_KEY] });
  }

  evaluate<T>(script: string, ...args: readonly unknown[]): Promise<T> {
    return this.#run<T>(script, args);
  }

  addonPage(name: AddonPageName): string {
    return this.#addonUrl(name);
  }

  async addonCall<T>(script: string, ...args: readonly unknown[]): Promise<T> {
    const visible = await this.#marionette.ask<string>('WebDriver:GetWindowHandle');
    try {
      await this.#enterAddonTab();
      return await this.#run<T>(script, args);
    } finally {
      await this.#enterTab(visible);
    }
  }

  async look({ colours, ...viewport }: Appearance): Promise<void> {
    await runPrivileged(
      this.#marionette,
      "Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', arguments[0])",
      [colours === 'dark' ? 0 : 1],
    );
    await setViewport(this.#marionette, viewport);
  }

  async screenshot(path: string): Promise<void> {
    const base64 = await this.#marionette.ask<string>('WebDriver:TakeScreenshot', { full: false });
    await writeFile(path, base64, 'base64');
  }

  async close(): Promise<void> {
    await this.#quit();
    await this.#home.remove();
  }

  async #quit(): Promise<void> {
    // Not awaited: a Firefox that has crashed refuses, and one that hangs does not answer.
    this.#marionette.send('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => undefined);
    await this.#started.process.ended(QUIT_TIMEOUT_MS);
    this.#marionette.close();
  }

  #addonUrl(file: string): string {
    if (this.#addonOrigin === undefined) throw new Error('the browser was launched without an add-on');
    return `${this.#addonOrigin}/${file}`;
  }

  async #enterAddonTab(): Promise<void> {
    if (this.#addonTab !== undefined) return this.#enterTab(this.#addonTab);
    const url = this.#addonUrl('manifest.json');
    // Asked for a new tab, Marionette takes the next one that opens, which may be one that the add-on opens.
    await runPrivileged(
      this.#marionette,
      `const triggeringPrincipal = Services.scriptSecurityManager.getSystemPrincipal();
      window.gBrowser.addTab(arguments[0], { triggeringPrincipal });`,
      [url],
    );
    this.#addonTab = await this.#enterTabOf(url);
  }

  /** Enters the one tab that shows this page of the add-on, waiting for it. */
  async #enterTabOf(url: string): Promise<string> {
    const deadlineMs = performance.now() + TAB_TIMEOUT_MS;
    while (performance.now() < deadlineMs) {
      const handles = (await this.#marionette.send('WebDriver:GetWindowHandles', {})) as string[];
      for (const handle of handles) {
        await this.#enterTab(handle);
        if ((await this.#marionette.ask<string>('WebDriver:GetCurrentURL')) !== url) continue;
        // A tab has its address a moment before its page has the extension API.
        if (await this.#run<boolean>("return typeof browser === 'object'", [])) return handle;
      }
    }
    throw new Error(`no tab shows ${url}`);
  }

  async #enterTab(handle: string): Promise<void> {
    await this.#marionette.send('WebDriver:SwitchToWindow', { handle, focus: false });
  }

  #find(selector: string): Promise<{ readonly [ELEMENT_KEY]: string }> {
    return this.#marionette.ask('WebDriver:FindElement', { using: 'css selector', value: selector });
  }

  async #run<T>(script: string, args: readonly unknown[]): Promise<T> {
    const json = await this.#marionette.ask<string | null>('WebDriver:ExecuteScript', {
      script: `return ${toExpression(script, args)}`,
      args: [],
      // Without a sandbox of its own the script sees the globals of the page.
      sandbox: null,
    });
    return fromJson(json) as T;
  }
}

/** Brings an element into view, once the page shows it: a page of the add-on does when it knows its state. */
const SHOW = `const [element] = arguments;
  return new Promise((shown) => {
    const look = () => {
      if (element.getClientRects().length === 0) return setTimeout(look, 20);
      element.scrollIntoView({ block: 'center', behavior: 'instant' });
      shown();
    };
    look();
  });`;

/** Holds a key from the first of so many actions until after the last one. */
function heldDuring(key: HeldKey, actions: number): object {
  const value = KEY_CODES[key];
  const pauses = Array.from({ length: actions - 1 }, () => ({ type: 'pause', duration: 0 }));
  const keyActions = [{ type: 'keyDown', value }, ...pauses, { type: 'keyUp', value }];
  return { type: 'key', id: 'keyboard', actions: keyActions };
}

/** The id under which Firefox knows an unpacked add-on. */
async function readGeckoId(addonDir: string): Promise<string> {
  const path = join(addonDir, 'manifest.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as {
    browser_specific_settings?: { gecko?: { id?: string } };
  };
  const id = manifest.browser_specific_settings?.gecko?.id;
  if (id === undefined) throw new Error(`${path} names no browser_specific_settings.gecko.id`);
  return id;
}
