import { once } from 'node:events';
import { join } from 'node:path';
import type { BrowserKind } from '../../browsers/browser.ts';
import type { ClientSpawn } from './asker.ts';

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

export interface ClientBrowserSpec {
  /** Starts a program at the client. */
  readonly atClient: ClientSpawn;
  /** Authority behind all certificates, see `certificates/test-ca`. */
  readonly ca: { readonly caFile: string; readonly spkiSha256Base64: string };
  /** The masters' one address, all that the add-on knows of Longhaul. */
  readonly masterUrl: string;
  /** Hosts of the test network, which look private. */
  readonly privateHosts: readonly string[];
  /** Where the browser looks names up, on port 53; left out where the client's own files tell them. */
  readonly nameServer?: string;
}

/** Starts a browser at the client. */
export async function startClientBrowser(
  { atClient, ca, masterUrl, privateHosts, nameServer }: ClientBrowserSpec,
  kind: BrowserKind,
): Promise<ClientBrowser> {
  const options: readonly (readonly [name: string, value: string])[] = [
    ['kind', kind],
    ['ca', ca.caFile],
    ['spki', ca.spkiSha256Base64],
    ['master', masterUrl],
    ...privateHosts.map((host) => ['private', host] as const),
    ...(nameServer === undefined ? [] : [['name-server', nameServer] as const]),
  ];
  const program = join(import.meta.dirname, 'browser-main.ts');
  const command = [process.execPath, program, ...options.flatMap(([name, value]) => [`--${name}`, value])];
  const child = atClient(command, ['ignore', 'ignore', 'inherit', 'ipc']);
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
