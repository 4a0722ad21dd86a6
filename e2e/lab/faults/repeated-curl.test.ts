import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { originBytes } from '../hosts/origin-content.ts';
import { loopbackNetwork } from '../transfers/loopback-network.ts';
import { startTransferBench, type TransferBench } from '../transfers/transfer-bench.ts';
import { repeatedCurl } from './repeated-curl.ts';

const FILE = originBytes(1_000_000);
let bench: TransferBench | undefined;
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-repeated-'));
});
afterEach(async () => {
  await bench?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function fetchFrom(page: RequestListener, cutSeconds = 60) {
  bench = await startTransferBench({ pages: { '/page': page } });
  const output = join(folder, 'file.bin');
  const attempts = await repeatedCurl(
    {
      network: loopbackNetwork(folder),
      site: 'here',
      url: `http://127.0.0.1:${bench.origin.port}/page`,
      expected: FILE,
      cutSeconds,
    },
    { folder, output },
  );
  return { attempts, output };
}

describe('curl, again and again', () => {
  it('has the whole file although every answer breaks off after a third of it', async () => {
    const { attempts, output } = await fetchFrom((request, response) => {
      const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
      const end = Math.min(start + 400_000, FILE.length);
      response.writeHead(start > 0 ? 206 : 200, {
        'Content-Length': FILE.length - start,
        ...(start > 0 ? { 'Content-Range': `bytes ${start}-${FILE.length - 1}/${FILE.length}` } : {}),
      });
      response.write(FILE.subarray(start, end), () => {
        if (end < FILE.length) response.socket?.destroy();
        else response.end();
      });
    });
    expect(attempts.map(({ failure }) => failure === undefined)).toEqual([false, false, true]);
    expect(readFileSync(output).equals(FILE)).toBe(true);
  });

  it('ends with its time when nobody answers well', async () => {
    const { attempts } = await fetchFrom((request) => request.socket.destroy(), 1);
    expect(attempts.length).toBeGreaterThan(0);
    expect(attempts.at(-1)?.metrics?.exitcode).not.toBe(0);
  });
});
