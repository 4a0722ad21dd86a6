import type { DialogAnswer } from './firefox-dialogs.ts';

/** The two families of browsers the add-on is made for. */
export type BrowserKind = 'chromium' | 'firefox';

export type AddonPageName = 'popup.html' | 'options.html' | 'welcome.html';

export type HeldKey = 'Alt' | 'Control' | 'Shift';

export interface LaunchOptions {
  /** Folder of the unpacked add-on to load. For Firefox its manifest must name a `gecko.id`. */
  readonly addonDir?: string;
  /** Folders of more add-ons, which have no background. Chromium only. */
  readonly otherAddonDirs?: readonly string[];
  /** Host names that resolve to 127.0.0.1. Chromium resolves no other name but `localhost`. */
  readonly hosts: readonly string[];
  /** Host names that resolve to ::1. */
  readonly ipv6Hosts?: readonly string[];
  /** Where all names are looked up instead, on port 53; root only. */
  readonly nameServer?: string | undefined;
  /** An authority to trust, whose servers send its certificate along in their chain. */
  readonly trustedCa?: { readonly certPem: string; readonly spkiSha256Base64: string };
  /**
   * Lets a link lead to a download over plain HTTP from a named host. Users' browsers stop such downloads: Chromium all
   * of them, Firefox those from an HTTPS page. Downloads by the add-on are never stopped. Default false.
   */
  readonly allowInsecureDownloads?: boolean;
  /** Whether the browser asks for every download where to save it. Default false. */
  readonly asksWhere?: boolean;
  /** Size of the page area in CSS pixels. Default 1280 x 800. */
  readonly viewport?: Viewport;
  /** More Firefox preferences, by name. */
  readonly firefoxPrefs?: Readonly<Record<string, string | number | boolean>>;
  /** More Chromium switches. */
  readonly chromiumArgs?: readonly string[];
  /** The address of a proxy that the system names for https, as Chromium finds it on Linux. */
  readonly systemProxy?: string;
}

export interface Viewport {
  readonly width: number;
  readonly height: number;
}

export const DEFAULT_VIEWPORT: Viewport = { width: 1280, height: 800 };

/** Keys that a page is used by. */
export type Key = 'Tab' | 'Enter' | 'Space';

/** How a user looks at pages. Who zooms has fewer CSS pixels. */
export interface Appearance extends Viewport {
  readonly colours: 'light' | 'dark';
}

/** How long a browser may take to start, a page to load and a script to run, in ms. A loaded machine is slow. */
export const BROWSER_TIMEOUT_MS = 60_000;

/** How long a call waits for the element that its selector names, in ms. */
export const ELEMENT_TIMEOUT_MS = 10_000;

/**
 * One running browser with a fresh profile and one visible tab. Every call but `close` rejects with an `Error` when
 * the browser refuses it. Calls must not overlap: await one before making the next.
 */
export interface TestBrowser {
  readonly kind: BrowserKind;
  /** Folder where downloads land under their real names. Removed by `close`. */
  readonly downloadsDir: string;
  /** Opens a page in the visible tab and waits until it has loaded. For a URL that becomes a download use `click`. */
  goto(url: string): Promise<void>;
  /** Clicks as a user does (it counts as a user gesture), with a key held; does not wait for what the click starts. */
  click(selector: string, held?: HeldKey): Promise<void>;
  /**
   * What the user lets the add-on reach from now on, as his browser's own settings do: these hosts of http
   * and no other, or again everything that it asks for.
   */
  limitAccess(hosts: readonly string[] | 'all'): Promise<void>;
  /** Presses and releases a key, as a user does. */
  press(key: Key): Promise<void>;
  /** The rendered text of the first element that matches, waiting for it to appear. */
  text(selector: string): Promise<string>;
  /**
   * Runs an async function body in the page, without a user gesture.
   * In Chromium it has to wait while the visible tab has asked for a page and got no answer yet.
   * @param script may use `args` (an array) and the page's globals, to be set by `window.name = ...`; its value must
   *   survive JSON.
   */
  evaluate<T>(script: string, ...args: readonly unknown[]): Promise<T>;
  /** The URL of a page of the add-on. */
  addonPage(name: AddonPageName): string;
  /** As `evaluate`, in a hidden tab of the add-on, where `browser` or `chrome` is the extension API. */
  addonCall<T>(script: string, ...args: readonly unknown[]): Promise<T>;
  /** Ends the add-on's background, as the browser does when nothing happens; an event starts it again. */
  unloadBackground(): Promise<void>;
  /** Ends the browser as the machine does that shuts down, and starts it again with what it had kept. */
  restart(): Promise<void>;
  /**
   * How dialogs that ask where to save are answered from now on; the first ones are cancelled. Firefox only: Chromium
   * without a window cancels all of them.
   */
  answerDialogs(answer: DialogAnswer): Promise<void>;
  /** How many dialogs there were so far. Firefox only. */
  dialogCount(): Promise<number>;
  /** Chooses "Save link as" from the context menu of a link. Firefox only: nothing else reaches Chromium's menu. */
  saveLinkAs(selector: string): Promise<void>;
  /**
   * Chooses an entry of the add-on from the context menu of a link. Where nothing reaches the menu (Chromium), the
   * add-on is told as if the entry had been chosen.
   */
  chooseFromMenu(selector: string, entry: { readonly id: string; readonly title: string }): Promise<void>;
  /** Shows this and the following pages so. */
  look(appearance: Appearance): Promise<void>;
  /** Writes a PNG of the visible part of the page. */
  screenshot(path: string): Promise<void>;
  /** Ends the browser and removes its profile and downloads. May be called again. */
  close(): Promise<void>;
}
