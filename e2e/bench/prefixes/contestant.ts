import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { loadFile, PrefixTable, readAddress } from '@longhaul/master-service/parts';
import { Reader, type Response } from 'mmdb-lib';

/** Files of the same table. */
export interface TableFiles {
  readonly text: string;
  readonly mmdb: string;
}

/** Gives the number of the autonomous system of an address; 0 where there is none. */
export type LookUp = (address: string) => number;

/** A table that is ready, and how long nothing else could happen in the process while it was read. */
export interface ReadyTable {
  readonly lookUp: LookUp;
  /** What holds the table. */
  readonly table: object;
  readonly longestPauseMs: number;
}

/** Who takes part, each in a process of its own. */
export const CONTESTANTS = {
  longhaul: ({ text }: TableFiles) => longhaul(text),
  'mmdb-lib': async ({ mmdb }: TableFiles) => {
    const startedMs = performance.now();
    const reader = new Reader<AsRecord>(readFileSync(mmdb), { cache: new Map<string | number, unknown>() });
    return {
      lookUp: (address) => reader.get(address)?.autonomous_system_number ?? 0,
      table: reader,
      longestPauseMs: performance.now() - startedMs,
    };
  },
  maps: async ({ text }: TableFiles) => {
    const startedMs = performance.now();
    const { lookUp, maps } = mapsOf(readFileSync(text, 'latin1'));
    return { lookUp, table: maps, longestPauseMs: performance.now() - startedMs };
  },
} as const satisfies Readonly<Record<string, (files: TableFiles) => Promise<ReadyTable>>>;

export type ContestantId = keyof typeof CONTESTANTS;
export const CONTESTANT_IDS = Object.keys(CONTESTANTS) as readonly ContestantId[];

export const CONTESTANT_LABELS: Readonly<Record<ContestantId, string>> = {
  longhaul: 'the table of the master',
  'mmdb-lib': 'mmdb-lib, which looks up in the MMDB itself, with every record it has decoded kept',
  maps: 'a Map of JavaScript for each length of prefix, the longest tried first',
};

type AsRecord = Response & { readonly autonomous_system_number?: number };

async function longhaul(path: string): Promise<ReadyTable> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const loaded = await loadFile('asTable', path);
  delay.disable();
  if (!loaded.ok) throw loaded.error;
  const table = new PrefixTable(loaded.value.table);
  return {
    table,
    longestPauseMs: delay.max / 1e6,
    lookUp: (text) => {
      const address = readAddress(text);
      return (address && table.valueOf(address)) ?? 0;
    },
  };
}

/** What one would write first. */
function mapsOf(text: string): { readonly lookUp: LookUp; readonly maps: object } {
  const families = { v4: new Map<number, Map<number, number>>(), v6: new Map<number, Map<number, number>>() };
  for (const line of text.split('\n')) {
    const [prefix = '', asNumber = ''] = line.split(' ');
    const [base = '', bits = ''] = prefix.split('/');
    const address = readAddress(base);
    if (!address) continue;
    const family = address.isV6 ? families.v6 : families.v4;
    const length = Number(bits);
    const map = family.get(length) ?? new Map<number, number>();
    family.set(length, map.set(firstBits(address.high, address.low, length), Number(asNumber)));
  }
  const sorted = (family: Map<number, Map<number, number>>) =>
    [...family].toSorted(([one], [other]) => other - one);
  const maps = { v4: sorted(families.v4), v6: sorted(families.v6) };
  return {
    maps,
    lookUp: (textOfAddress) => {
      const address = readAddress(textOfAddress);
      if (!address) return 0;
      for (const [length, map] of address.isV6 ? maps.v6 : maps.v4) {
        const value = map.get(firstBits(address.high, address.low, length));
        if (value !== undefined) return value;
      }
      return 0;
    },
  };
}

/** Of at most 48 bits, which a number holds. */
function firstBits(high: number, low: number, length: number): number {
  return length <= 32 ? high >>> (32 - length) : high * 2 ** (length - 32) + (low >>> (64 - length));
}
