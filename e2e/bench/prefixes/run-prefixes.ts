import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeMmdb } from '@longhaul/master-service/parts';
import { machineLoad } from '../../lab/results/machine-load.ts';
import type { BenchRun } from '../run/bench-run.ts';
import { CONTESTANT_IDS } from './contestant.ts';
import { drawTable } from './draw-table.ts';
import { measuredSchema, type PrefixesLine } from './prefixes-line.ts';

/** Of each family; five times as many look-ups are counted. */
const ADDRESSES = 200_000;
const CONTESTANT = join(import.meta.dirname, 'contestant-main.ts');

export interface PrefixesRun extends BenchRun<PrefixesLine> {
  readonly prefixes: number;
  readonly seed: number;
}

/** Lets all contestants look the same addresses up in the same table, by turns, each in a process of its own. */
export async function runPrefixes({
  prefixes,
  repeats,
  seed,
  file,
  say,
  signal,
}: PrefixesRun): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-prefixes-'));
  try {
    say(`drawing ${prefixes} prefixes`);
    const files = writeFiles(folder, prefixes, seed);
    for (let repeat = 1; repeat <= repeats; repeat += 1) {
      for (const contestant of CONTESTANT_IDS) {
        if (file.lines.some((line) => line.contestant === contestant && line.repeat === repeat)) continue;
        signal.throwIfAborted();
        const command = ['--expose-gc', '--max-old-space-size=4096', CONTESTANT, contestant, ...files];
        const { stdout } = await promisify(execFile)(process.execPath, command, { signal });
        const measured = measuredSchema.parse(JSON.parse(stdout));
        const load = machineLoad();
        file.append({ bench: 'prefixes', contestant, repeat, prefixes, load, ...measured });
        const { v4Us, v6Us, memoryBytes } = measured;
        const mib = (memoryBytes / 2 ** 20).toFixed(1);
        say(`${repeat}. ${contestant}: ${v4Us.toFixed(2)} us IPv4, ${v6Us.toFixed(2)} us IPv6, ${mib} MiB`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function writeFiles(folder: string, prefixes: number, seed: number): readonly [string, string, string] {
  const [text, mmdb, addresses] = [
    join(folder, 'as.txt'),
    join(folder, 'as.mmdb'),
    join(folder, 'addresses.json'),
  ];
  const { entries, v4Addresses, v6Addresses } = drawTable(prefixes, ADDRESSES, seed);
  writeFileSync(text, entries.map((entry) => `${entry.join(' ')}\n`).join(''));
  const records = new Map<number, { readonly autonomous_system_number: number }>();
  const recordOf = (asNumber: number) => {
    const record = records.get(asNumber) ?? { autonomous_system_number: asNumber };
    records.set(asNumber, record);
    return record;
  };
  writeFileSync(mmdb, writeMmdb(entries.map(([prefix, asNumber]) => [prefix, recordOf(asNumber)])));
  writeFileSync(addresses, JSON.stringify({ v4: v4Addresses, v6: v6Addresses }));
  return [text, mmdb, addresses];
}
