import { join } from 'node:path';
import type { Network } from '../../lab/network/network.ts';
import { startHelper } from './start-helper.ts';

const PROGRAM = join(import.meta.dirname, 'eyes-main.ts');

interface Seen {
  readonly id: number;
  readonly text?: string;
  readonly failure?: string;
}

/** Somebody in a network of his own who reads pages of the services. */
export interface Eyes {
  /** Rejects with what kept the page from being read. */
  readonly read: (url: string) => Promise<string>;
}

export async function openEyes(network: Network, caFile: string | undefined): Promise<Eyes> {
  const child = await startHelper(network, 'watch', 'eyes', [PROGRAM, ...(caFile ? [caFile] : [])]);
  const waiting = new Map<number, (seen: Seen) => void>();
  let asked = 0;
  child.on('message', (seen: Seen) => {
    waiting.get(seen.id)?.(seen);
    waiting.delete(seen.id);
  });
  return {
    read: (url) =>
      new Promise((resolve, reject) => {
        asked += 1;
        waiting.set(asked, ({ text, failure }) =>
          text === undefined ? reject(new Error(failure)) : resolve(text),
        );
        child.send({ id: asked, url });
      }),
  };
}
