import { setTimeout as delay } from 'node:timers/promises';
import { type BrowserContext, chromium, type Page } from '@playwright/test';
import {
  type AddonPageName,
  type Appearance,
  BROWSER_TIMEOUT_MS,
  DEFAULT_VIEWPORT,
  ELEMENT_TIMEOUT_MS,
  type HeldKey,
  type Key,
  type LaunchOptions,
  type TestBrowser,
} from './browser.ts';
import { type BrowserHome, createBrowserHome } from './browser-home.ts';
import { chromiumArguments, writeChromiumPreferences } from './chromium-profile.ts';
import { requireBrowser } from './find-browsers.ts';
import { withNameServer } from './own-names.ts';
import { fromJson, toExpression } from './page-script.ts';

/** Starts Chromium without a window. Rejects when it is not installed or does not start. */
export async function launchChromium(options: LaunchOptions): Promise<TestBrowser> {
  requireBrowser('chromium');
  const home = await createBrowserHome('chromium');
  try {
    await writeChromiumPreferences(home, options);
    return new Chromium(await start(home, options), home, options);
  } catch (error) {
    await home.remove();
    throw error;
  }
}

/** A Chromium that runs. */
interface Started {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly addonOrigin: string | undefined;
}

async function start(home: BrowserHome, options: LaunchOptions): Promise<Started> {
  const context = await chromium.launchPersistentContext(home.profileDir, {
    executablePath: await withNameServer(home, requireBrowser('chromium'), options.nameServer),
    headless: true,
    // The sandbox cannot be used by root.
    chromiumSandbox: process.getuid?.() !== 0,
    viewport: options.viewport ?? DEFAULT_VIEWPORT,
    timeout: BROWSER_TIMEOUT_MS,
    env: { ...home.env, ...(options.systemProxy === undefined ? {} : { https_proxy: options.systemProxy }) },
    args: chromiumArguments(options),
  });
  try {
    context.setDefaultTimeout(ELEMENT_TIMEOUT_MS);
    context.setDefaultNavigationTimeout(BROWSER_TIMEOUT_MS);
    const page = context.pages()[0] ?? (await context.newPage());
    const session = await context.newCDPSession(page);
    // Playwright has downloads renamed to a GUID; this gives them back to the browser's own rules.
    await session.send('Browser.setDownloadBehavior', { behavior: 'default' });
    const addonOrigin =
      options.addonDir === undefined ? undefined : await findAddonOrigin(context, options.addonDir);
    return { context, page, addonOrigin };
  } catch (error) {
    await context.close();
    throw error;
  }
}

class Chromium implements TestBrowser {
  readonly kind = 'chromium';
  readonly downloadsDir: string;
  readonly #home: BrowserHome;
  readonly #options: LaunchOptions;
  #started: Started;
  #addonTab: Page | undefined;

  constructor(started: Started, home: BrowserHome, options: LaunchOptions) {
    this.#started = started;
    this.#home = home;
    this.#options = options;
    this.downloadsDir = home.downloadsDir;
  }

  get #context(): BrowserContext {
    return this.#started.context;
  }

  get #page(): Page {
    return this.#started.page;
  }

  async restart(): Promise<void> {
    const session = await this.#context.browser()?.newBrowserCDPSession();
    const told = await session?.send('SystemInfo.getProcessInfo');
    const pid = told?.processInfo.find(({ type }) => type === 'browser')?.id;
    if (pid === undefined) throw new Error('Chromium does not tell its process');
    const ended = this.#context.waitForEvent('close', { timeout: BROWSER_TIMEOUT_MS });
    // Asked to close, it would cancel its downloads.
    process.kill(pid, 'SIGTERM');
    await ended;
    this.#addonTab = undefined;
    this.#started = await start(this.#home, this.#options);
  }

  async goto(url: string): Promise<void> {
    await this.#page.goto(url).catch((error: unknown) => {
      // A page before it may end its loading only now: then this one was not asked for yet.
      if (!String(error).includes('interrupted by another navigation')) throw error;
      return this.#page.goto(url);
    });
  }

  async click(selector: string, held?: HeldKey): Promise<void> {
    const modifiers = held ? [held] : [];
    await this.#page.locator(selector).first().click({ modifiers, noWaitAfter: true });
  }

  async press(key: Key): Promise<void> {
    await this.#page.keyboard.press(key);
  }

  text(selector: string): Promise<string> {
    return this.#page.locator(selector).first().innerText();
  }

  evaluate<T>(script: string, ...args: readonly unknown[]): Promise<T> {
    return this.#run<T>(this.#page, script, args);
  }

  addonPage(name: AddonPageName): string {
    return this.#addonUrl(name);
  }

  async addonCall<T>(script: string, ...args: readonly unknown[]): Promise<T> {
    if (this.#addonTab === undefined) {
      const tab = await this.#context.newPage();
      // The one file that every add-on has and that runs no code of its own.
      await tab.goto(this.#addonUrl('manifest.json'));
      await this.#page.bringToFront();
      this.#addonTab = tab;
    }
    return this.#run<T>(this.#addonTab, script, args);
  }

  async unloadBackground(): Promise<void> {
    // Its own tab would keep it in use.
    await this.#addonTab?.close();
    this.#addonTab = undefined;
    const session = await this.#context.newCDPSession(this.#page);
    await session.send('ServiceWorker.enable');
    await session.send('ServiceWorker.stopAllWorkers');
    await session.detach();
  }

  async limitAccess(hosts: readonly string[] | 'all'): Promise<void> {
    const page = await this.#context.newPage();
    await page.goto('chrome://extensions');
    const script = `const [id, hosts] = args;
      const { updateExtensionConfiguration, addHostPermission } = chrome.developerPrivate;
      const grant = (hostAccess) => updateExtensionConfiguration({ extensionId: id, hostAccess });
      if (hosts === 'all') return grant('ON_ALL_SITES');
      // Takes what was granted before.
      await grant('ON_CLICK');
      if (hosts.length > 0) await grant('ON_SPECIFIC_SITES');
      for (const host of hosts) await addHostPermission(id, 'http://' + host + '/*');`;
    await this.#run(page, script, [new URL(this.#addonUrl('')).host, hosts]);
    await page.close();
    await this.#page.bringToFront();
  }

  answerDialogs(): Promise<void> {
    return Promise.reject(new Error('Chromium without a window cancels all dialogs'));
  }

  dialogCount(): Promise<number> {
    return Promise.reject(new Error('Chromium does not tell of its dialogs'));
  }

  saveLinkAs(): Promise<void> {
    return Promise.reject(new Error("nothing reaches Chromium's context menu"));
  }

  async chooseFromMenu(selector: string, { id }: { readonly id: string }): Promise<void> {
    const linkUrl = await this.#page.locator(selector).evaluate((link) => (link as { href?: string }).href);
    const worker = this.#context.serviceWorkers()[0] ?? (await this.#context.waitForEvent('serviceworker'));
    await worker.evaluate(
      ({ info }) => {
        const { chrome } = globalThis as unknown as {
          chrome: { contextMenus: { onClicked: { dispatch: (told: object) => void } } };
        };
        chrome.contextMenus.onClicked.dispatch(info);
      },
      { info: { menuItemId: id, linkUrl, pageUrl: this.#page.url() } },
    );
  }

  async look({ colours, width, height }: Appearance): Promise<void> {
    await this.#page.emulateMedia({ colorScheme: colours });
    await this.#page.setViewportSize({ width, height });
  }

  async screenshot(path: string): Promise<void> {
    await this.#page.screenshot({ path });
  }

  async close(): Promise<void> {
    await this.#context.close();
    await this.#home.remove();
  }

  #addonUrl(file: string): string {
    const { addonOrigin } = this.#started;
    if (addonOrigin === undefined) throw new Error('the browser was launched without an add-on');
    return `${addonOrigin}/${file}`;
  }

  /** Not `page.evaluate`: that counts as a user gesture, which unlocks what a background script cannot do. */
  async #run<T>(page: Page, script: string, args: readonly unknown[]): Promise<T> {
    const session = await this.#context.newCDPSession(page);
    const patience = new AbortController();
    const answer = session.send('Runtime.evaluate', {
      expression: toExpression(script, args),
      awaitPromise: true,
      returnByValue: true,
      userGesture: false,
    });
    try {
      const response = await Promise.race([
        answer,
        delay(BROWSER_TIMEOUT_MS, undefined, { signal: patience.signal, ref: false }),
      ]);
      if (!response) throw new Error(`a script took more than ${BROWSER_TIMEOUT_MS} ms`);
      const { result, exceptionDetails: failure } = response;
      if (failure) throw new Error(failure.exception?.description ?? failure.text);
      return fromJson(result.value) as T;
    } finally {
      patience.abort();
      await session.detach();
    }
  }
}

async function findAddonOrigin(context: BrowserContext, addonDir: string): Promise<string> {
  const started = context.serviceWorkers()[0];
  const worker =
    started ??
    (await context.waitForEvent('serviceworker', { timeout: BROWSER_TIMEOUT_MS }).catch((cause: unknown) => {
      throw new Error(`Chromium started no background script of the add-on in '${addonDir}'`, { cause });
    }));
  return `chrome-extension://${new URL(worker.url()).host}`;
}
