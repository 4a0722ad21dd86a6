import { WEB_ACCESS } from './browser/access.ts';
import type { Language } from './texts/texts.ts';

/** The browsers that the add-on is built for. */
export const TARGETS = ['chrome', 'firefox'] as const;
export type Target = (typeof TARGETS)[number];

/** Browsers make what lies between of the largest. */
export const ICON_SIZES = [16, 32, 128] as const;

const icons = Object.fromEntries(ICON_SIZES.map((size) => [size, `icon-${size}.png`]));

/** What is spoken to whoever speaks no other of the add-on's languages. */
export const DEFAULT_LANGUAGE: Language = 'en';
/** By what Firefox knows the add-on. */
export const GECKO_ID = 'longhaul@longhaul.example';

/** What both browsers are asked for. */
const PERMISSIONS = [
  // To see downloads, to start others in their place, and to keep those going.
  'downloads',
  // Settings and jobs.
  'storage',
  // Only observes: what the browser saw of a file before it became a download, and whether it answers a form.
  'webRequest',
  // An interrupted download is tried again although the background sleeps.
  'alarms',
  // "Download through Longhaul" and "directly" for links, media and pages.
  'contextMenus',
  // One notice when a download waits for the user, or is whole after a break.
  'notifications',
  // A script in pages tells of the key that leaves a download to the browser, while the user has chosen one.
  'scripting',
] as const;

/** Sites that the user chooses are reached through a tunnel. Firefox asks when he chooses the first one. */
const FOR_TUNNELS = ['proxy'] as const;

const FIREFOX = {
  // The last one leads the add-on's own downloads to the master, and back to their origin, without giving up a byte.
  permissions: [
    ...PERMISSIONS,
    'declarativeNetRequestWithHostAccess',
    // Where the user wants no byte wasted, it holds an answer until the master has said where its file comes from.
    'webRequestBlocking',
  ],
  optional_permissions: FOR_TUNNELS,
  background: { scripts: ['background.js'], type: 'module' },
  browser_specific_settings: {
    gecko: {
      id: GECKO_ID,
      strict_min_version: '142.0',
      // The addresses of downloads, that they happen, and what is said of their files go to the master that the
      // user has chosen; the files pass through depots.
      data_collection_permissions: { required: ['browsingActivity', 'websiteActivity', 'websiteContent'] },
    },
  },
} as const;

/** What the browsers do not have in common. */
const DIFFERENCES: Readonly<Record<Target, object>> = {
  chrome: {
    // The first version with URL.parse.
    minimum_chrome_version: '126',
    // Where the user wants no byte wasted, the first leads requests for files to the master. The others are
    // for tunnels, whose entry depot asks for a ticket: Chromium lets nobody ask for them later, and shows no
    // more than the access to all sites says.
    permissions: [
      ...PERMISSIONS,
      'declarativeNetRequestWithHostAccess',
      ...FOR_TUNNELS,
      'webRequestAuthProvider',
    ],
    background: { service_worker: 'background.js', type: 'module' },
  },
  firefox: FIREFOX,
};

/** Where a copy that is not from a store asks for updates. */
function updatesFrom(target: Target, updateBase: string): object {
  if (target === 'chrome') return { update_url: `${updateBase}/updates.xml` };
  const { browser_specific_settings } = FIREFOX;
  const gecko = { ...browser_specific_settings.gecko, update_url: `${updateBase}/updates.json` };
  return { browser_specific_settings: { gecko } };
}

/**
 * The manifest of one target.
 * @param updateBase where an organisation serves its own copy; stores take none with that.
 */
export function manifest(
  target: Target,
  version: string,
  updateBase?: string,
  language = DEFAULT_LANGUAGE,
): object {
  return {
    manifest_version: 3,
    name: 'Longhaul',
    version,
    description: '__MSG_description__',
    default_locale: language,
    icons,
    action: { default_popup: 'popup.html', default_title: 'Longhaul', default_icon: icons },
    options_ui: { page: 'options.html', open_in_tab: true },
    // Downloads come from anywhere, and masters and depots may be anywhere.
    host_permissions: WEB_ACCESS.origins,
    // A private window's downloads would come out in an ordinary one.
    incognito: 'not_allowed',
    content_security_policy: {
      // Without Firefox's own rule to ask every http address under https: a local master has no certificate.
      extension_pages:
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src http: https:; base-uri 'none'; form-action 'none'",
    },
    ...DIFFERENCES[target],
    ...(updateBase === undefined ? {} : updatesFrom(target, updateBase)),
  };
}
