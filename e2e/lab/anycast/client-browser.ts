import { once } from 'node:events';
import { join } from 'node:path';
import type { BrowserKind } from '../../browsers/browser.ts';
import { SITE_NAMES } from './anycast-network.ts';
import { type AnycastStage, MASTERS_URL } from './anycast-stage.ts';

/** What `browser-main.ts` tells. */
export type BrowserReport =
  | { readonly downloads: string }
  | { readonly running: string }
  | { readonly failure: string };

export interface ClientBrowser {
  /** Where `file.bin` is when it is whole; before, it may be empty. */
  readonly file: string;
  /** Clicks a link to `file.bin`, and waits until it comes through depots. */
  readonly begin: (url: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts a browser at the client, with an add-on that knows nothing of Longhaul but the masters' one name. */
export async function startClientBrowser(
  { atClient, certificates, network }: AnycastStage,
  kind: BrowserKind,
): Promise<ClientBrowser> {
  // Those of a test network look private.
  const hosts = [...SITE_NAMES, 'origin'].flatMap((site) => ['--private', network.addressOf(site)]);
  const { caFile, spkiSha256Base64 } = certificates;
  const options = [
    '--kind',
    kind,
    '--ca',
    caFile,
    '--spki',
    spkiSha256Base64,
    '--master',
    MASTERS_URL,
    ...hosts,
  ];
  const program = join(import.meta.dirname, 'browser-main.ts');
  const child = atClient([process.execPath, program, ...options], ['ignore', 'ignore', 'inherit', 'ipc']);
  const exited = once(child, 'exit');
  const report = async () => {
    const ended = exited.then(() => [{ failure: `${kind} has ended` }]);
    const [said] = (await Promise.race([once(child, 'message'), ended])) as [BrowserReport];
    if ('failure' in said) throw new Error(`${kind}: ${said.failure}`);
    return said;
  };
  const ready = await report();
  return {
    file: join('downloads' in ready ? ready.downloads : '', 'file.bin'),
    begin: async (url) => {
      const begun = report();
      child.send(url);
      await begun;
    },
    close: async () => {
      child.disconnect();
      await exited;
    },
  };
}
