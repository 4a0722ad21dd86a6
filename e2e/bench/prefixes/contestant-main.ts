/**
 * One contestant in a process of its own: reads the table, looks addresses up, and says in a line of JSON
 * what that took.
 */
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { CONTESTANTS, type ContestantId, type LookUp } from './contestant.ts';

const [id = '', text = '', mmdb = '', addressFile = ''] = process.argv.slice(2);
const { v4, v6 } = readAddresses();

/** Passes over all addresses that are counted, after one that is not. */
const PASSES = 5;

// What reading the addresses has left behind is gone in the next turn.
await setImmediate();
const before = heldBytes();
const startedMs = performance.now();
const cpuBefore = process.cpuUsage();
const ready = await CONTESTANTS[id as ContestantId]({ text, mmdb });
const readSeconds = (performance.now() - startedMs) / 1000;
const { user, system } = process.cpuUsage(cpuBefore);
const memoryBytes = heldBytes() - before;
const checks = [check(ready.lookUp, v4), check(ready.lookUp, v6)];
const line = {
  memoryBytes,
  readSeconds,
  readCpuSeconds: (user + system) / 1e6,
  longestPauseMs: ready.longestPauseMs,
  v4Us: cpuUsOf(ready.lookUp, v4),
  v6Us: cpuUsOf(ready.lookUp, v6),
  // What a reader has remembered of its records by now is part of its price.
  memoryAfterBytes: heldBytes() - before,
  check: checks.join(' '),
};
process.stdout.write(`${JSON.stringify(line)}\n`);

function readAddresses(): { readonly v4: string[]; readonly v6: string[] } {
  const { v4: v4Texts, v6: v6Texts } = JSON.parse(readFileSync(addressFile, 'utf8')) as {
    v4: string[];
    v6: string[];
  };
  // Copies, so that the text they were cut from can go.
  const copied = (texts: string[]) => texts.map((text) => Buffer.from(text, 'latin1').toString('latin1'));
  return { v4: copied(v4Texts), v6: copied(v6Texts) };
}

function heldBytes(): number {
  // Twice: what the first finds free lets the second free more.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The same for two contestants only where they say the same of every address. */
function check(lookUp: LookUp, addresses: readonly string[]): number {
  return addresses.reduce((sum, address) => (Math.imul(sum, 31) + lookUp(address)) >>> 0, 7);
}

function cpuUsOf(lookUp: LookUp, addresses: readonly string[]): number {
  const since = process.cpuUsage();
  for (let pass = 0; pass < PASSES; pass += 1) check(lookUp, addresses);
  const { user: userUs, system: systemUs } = process.cpuUsage(since);
  return (userUs + systemUs) / (PASSES * addresses.length);
}
