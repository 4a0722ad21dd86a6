import { X509Certificate } from 'node:crypto';
import {
  BROWSER_TIMEOUT_MS,
  DEFAULT_VIEWPORT,
  ELEMENT_TIMEOUT_MS,
  type LaunchOptions,
  type Viewport,
} from './browser.ts';
import { replaceFileDialog, runPrivileged } from './firefox-dialogs.ts';
import type { Marionette } from './marionette.ts';

/** Opens the one WebDriver session of a Firefox and makes it ready for a test, except for its add-on. */
export async function openFirefoxSession(marionette: Marionette, options: LaunchOptions): Promise<void> {
  await marionette.send('WebDriver:NewSession', { acceptInsecureCerts: false });
  await marionette.send('WebDriver:SetTimeouts', {
    implicit: ELEMENT_TIMEOUT_MS,
    pageLoad: BROWSER_TIMEOUT_MS,
    script: BROWSER_TIMEOUT_MS,
  });
  await mapHosts(marionette, options);
  if (options.trustedCa) await trust(marionette, options.trustedCa.certPem);
  await setViewport(marionette, options.viewport ?? DEFAULT_VIEWPORT);
  await replaceFileDialog(marionette);
}

async function mapHosts(marionette: Marionette, { hosts, ipv6Hosts = [] }: LaunchOptions): Promise<void> {
  const addresses = [...hosts.map((host) => [host, '127.0.0.1']), ...ipv6Hosts.map((host) => [host, '::1'])];
  await runPrivileged(
    marionette,
    `const dns = Cc['@mozilla.org/network/native-dns-override;1'].getService(Ci.nsINativeDNSResolverOverride);
    for (const [host, address] of arguments[0]) dns.addIPOverride(host, address);`,
    [addresses],
  );
}

async function trust(marionette: Marionette, certPem: string): Promise<void> {
  await runPrivileged(
    marionette,
    `Cc['@mozilla.org/security/x509certdb;1'].getService(Ci.nsIX509CertDB).addCertFromBase64(arguments[0], 'C,C,C');`,
    [new X509Certificate(certPem).raw.toString('base64')],
  );
}

/** Makes the page area so large. */
export async function setViewport(marionette: Marionette, { width, height }: Viewport): Promise<void> {
  // As a user's window, this one would not become narrower than 500 pixels.
  await runPrivileged(marionette, "document.documentElement.style.minWidth = '0'", []);
  const [frameWidth, frameHeight] = await marionette.ask<[number, number]>('WebDriver:ExecuteScript', {
    script: 'return [outerWidth - innerWidth, outerHeight - innerHeight]',
    args: [],
  });
  await marionette.send('WebDriver:SetWindowRect', {
    width: width + frameWidth,
    height: height + frameHeight,
  });
}
