import type { LaunchOptions } from './browser.ts';
import type { BrowserHome } from './browser-home.ts';

type Prefs = Readonly<Record<string, string | number | boolean>>;

/** What Firefox would otherwise fetch, report or ask by itself. */
const QUIET: Prefs = {
  // There is no desktop here whose service would show notices.
  'alerts.useSystemBackend': false,
  'app.normandy.enabled': false,
  'app.shield.optoutstudies.enabled': false,
  'app.update.auto': false,
  'app.update.disabledForTesting': true,
  'browser.aboutConfig.showWarning': false,
  'browser.aboutwelcome.enabled': false,
  'browser.contentblocking.report.lockwise.enabled': false,
  'browser.discovery.enabled': false,
  'browser.newtabpage.activity-stream.feeds.system.topsites': false,
  'browser.newtabpage.activity-stream.feeds.topsites': false,
  'browser.newtabpage.enabled': false,
  'browser.region.network.url': '',
  'browser.safebrowsing.blockedURIs.enabled': false,
  'browser.safebrowsing.downloads.enabled': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.search.update': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage': 'about:blank',
  'browser.startup.page': 0,
  'browser.topsites.contile.enabled': false,
  'captivedetect.canonicalURL': '',
  'datareporting.healthreport.uploadEnabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'dom.push.connection.enabled': false,
  'extensions.getAddons.cache.enabled': false,
  'extensions.systemAddon.update.enabled': false,
  'extensions.update.enabled': false,
  // An add-on that was loaded from a folder goes with the browser, and would take along what it has stored.
  'extensions.webextensions.keepStorageOnUninstall': true,
  'extensions.webextensions.keepUuidOnUninstall': true,
  'geo.provider.testing': true,
  'media.gmp-manager.updateEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'network.dns.disablePrefetch': true,
  'network.prefetch-next': false,
  'network.trr.mode': 5,
  'security.OCSP.enabled': 0,
  'services.settings.server': 'data:,#remote-settings-dummy/v1',
  'toolkit.telemetry.enabled': false,
  'toolkit.telemetry.server': '',
};

/** The text of the profile's `user.js`. `addon` gives the add-on an origin that is known in advance. */
export function firefoxPrefs(
  home: BrowserHome,
  options: LaunchOptions,
  addon: { readonly id: string; readonly uuid: string } | undefined,
): string {
  const prefs: Prefs = {
    ...QUIET,
    'marionette.port': 0,
    'browser.download.folderList': 2,
    'browser.download.dir': home.downloadsDir,
    'browser.download.useDownloadDir': !options.asksWhere,
    'browser.download.alwaysOpenPanel': false,
    // An address that a test gives as http: is asked as http:.
    'dom.security.https_first': false,
    'network.proxy.type': 0,
    'network.proxy.allow_hijacking_localhost': true,
    // Otherwise the manifest, where `addonCall` runs its scripts, opens in a viewer that is not part of the add-on.
    'devtools.jsonview.enabled': false,
    ...(options.allowInsecureDownloads ? { 'dom.block_download_insecure': false } : {}),
    ...(addon ? { 'extensions.webextensions.uuids': JSON.stringify({ [addon.id]: addon.uuid }) } : {}),
    ...options.firefoxPrefs,
  };
  return Object.entries(prefs)
    .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
    .join('');
}
