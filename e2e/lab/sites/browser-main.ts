/**
 * A browser at the client whose add-on knows the masters' one name: `node browser-main.ts --kind
 * <chromium|firefox> --ca <file> --spki <base64> --master <url> --private <host>... [--name-server
 * <address>]`. Tells its parent `{ downloads: <folder> }`, then `{ running: <url> }` for each URL that it is
 * sent, once the add-on has had the file come through depots, or `{ failure }`. Ends when the parent is gone.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { buildExtension } from '@longhaul/extension/build';
import type { TestBrowser } from '../../browsers/browser.ts';
import { launchBrowser } from '../../browsers/launch-browser.ts';
import type { BrowserReport } from './client-browser.ts';

/** A busy machine makes the first answers over new connections late; the file lasts longer. */
const DECISION_MS = 10_000;
const BEGIN_MS = 60_000;
const LOOK_MS = 100;

const { values } = parseArgs({
  options: {
    kind: { type: 'string' },
    ca: { type: 'string', default: '' },
    spki: { type: 'string', default: '' },
    master: { type: 'string', default: '' },
    private: { type: 'string', multiple: true, default: [] },
    'name-server': { type: 'string' },
  },
});
const kind = values.kind === 'firefox' ? 'firefox' : 'chromium';
const folder = mkdtempSync(join(tmpdir(), 'longhaul-addon-'));
await buildExtension({
  outDir: folder,
  target: kind === 'chromium' ? 'chrome' : 'firefox',
  defaults: {
    master: values.master,
    privateHosts: values.private,
    consented: true,
    decisionMs: DECISION_MS,
  },
});
const browser = await launchBrowser(kind, {
  addonDir: folder,
  hosts: [],
  // Names are the client's own.
  ...(values['name-server'] === undefined
    ? { chromiumArgs: ['--host-resolver-rules='] }
    : { nameServer: values['name-server'] }),
  trustedCa: { certPem: readFileSync(values.ca, 'utf8'), spkiSha256Base64: values.spki },
  allowInsecureDownloads: true,
});
const end = () =>
  void browser.close().finally(() => {
    rmSync(folder, { recursive: true });
    process.exit(0);
  });
process.once('disconnect', end);
process.once('SIGTERM', end);
tell({ downloads: browser.downloadsDir });
process.on('message', (url: string) => {
  begin(browser, url)
    .then(() => tell({ running: url }))
    .catch((failure: unknown) => tell({ failure: String(failure) }));
});

function tell(report: BrowserReport): void {
  process.send?.(report);
}

/** Clicks a link to the file on a page of its origin. */
async function begin(user: TestBrowser, url: string): Promise<void> {
  await user.goto(new URL('/', url).href);
  await user.evaluate(
    `document.body.innerHTML = '<a id="link">file</a>';
    document.querySelector('#link').href = args[0];`,
    url,
  );
  await user.click('#link');
  const deadlineMs = performance.now() + BEGIN_MS;
  const name = basename(new URL(url).pathname);
  for (;;) {
    const { running, lastLeft } = await statusOf(user);
    if (running.some((job) => job.name === name && job.state === 'running')) return;
    if (performance.now() > deadlineMs)
      throw new Error(`${name} did not come through depots: ${lastLeft?.why}`);
    await delay(LOOK_MS);
  }
}

interface AddonStatus {
  readonly running: readonly { readonly name: string; readonly state: string }[];
  readonly lastLeft?: { readonly why: string };
}

/** What the add-on tells its popup. */
async function statusOf(user: TestBrowser): Promise<AddonStatus> {
  const { answer } = await user.addonCall<{ answer: AddonStatus }>(
    'return (globalThis.browser ?? chrome).runtime.sendMessage(args[0])',
    { name: 'status', ask: { tabUrl: '' } },
  );
  return answer;
}
