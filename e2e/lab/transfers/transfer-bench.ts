import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OriginServer, startOrigin } from '../../overlay/origin-server.ts';
import { originBytes, originContent } from '../hosts/origin-content.ts';
import { loopbackNetwork } from './loopback-network.ts';
import { LONGEST_TRANSFER_SECONDS, type Transfer, type TransferOutcome } from './transfer.ts';

/** Large enough for 16 pieces of 1 MiB, small enough to be quick. */
export const BENCH_BYTES = 20_000_000;

export interface TransferBench {
  readonly origin: OriginServer;
  /** Fetches `path` of the origin, or a whole URL, and fails if anything of the transfer is left in the folder. */
  readonly fetch: (
    transfer: Transfer,
    path: string,
    options?: { readonly cutSeconds?: number; readonly expected?: Buffer },
  ) => Promise<TransferOutcome>;
  readonly close: () => Promise<void>;
}

/**
 * An origin on loopback with the lab's files, and whatever `pages` answers; `rateBps` may differ from answer to
 * answer.
 */
export async function startTransferBench(
  options: {
    readonly rateBps?: number | (() => number);
    readonly pages?: Readonly<Record<string, RequestListener>>;
  } = {},
): Promise<TransferBench> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-transfers-'));
  const { rateBps = Infinity } = options;
  const content = (path: string) => {
    const file = originContent(path);
    return file && { ...file, rateBps: typeof rateBps === 'number' ? rateBps : rateBps() };
  };
  const origin = await startOrigin({
    listenHost: '127.0.0.1',
    content: (path) => options.pages?.[path] ?? content(path),
  });
  return {
    origin,
    fetch: async (
      transfer,
      path,
      { cutSeconds = LONGEST_TRANSFER_SECONDS, expected = originBytes(BENCH_BYTES) } = {},
    ) => {
      const outcome = await transfer({
        network: loopbackNetwork(folder),
        site: 'here',
        url: path.startsWith('http') ? path : `http://127.0.0.1:${origin.port}${path}`,
        expected,
        cutSeconds,
      });
      const left = readdirSync(folder);
      if (left.length > 0) throw new Error(`the transfer left ${left.join(', ')} behind`);
      return outcome;
    },
    close: async () => {
      await origin.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
