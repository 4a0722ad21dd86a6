import { readFileSync } from 'node:fs';

/** Of TCP's own accounts, which count pages of 4096 bytes everywhere the lab has run. */
const PAGE_BYTES = 4096;

/** Bytes that TCP holds in buffers on the whole machine, in all namespaces. */
export function tcpMemoryBytes(): number {
  return parseSockstat(readFileSync('/proc/net/sockstat', 'latin1'));
}

/** The `mem` of the line `TCP:` in /proc/net/sockstat. Throws when it is not there. */
export function parseSockstat(text: string): number {
  const pages = /^TCP: .*\bmem ([0-9]+)/m.exec(text)?.[1];
  if (pages === undefined) throw new Error('/proc/net/sockstat says nothing of the memory of TCP');
  return Number(pages) * PAGE_BYTES;
}

/**
 * Bytes in the buffers of a relay's own sockets: what `ss -tnmH` says of those that listen-side clients reach at
 * `relayPort` and of those that lead to `sourcePort`. Received and not yet read, queued to be sent, and set aside.
 */
export function parseSocketMemory(text: string, relayPort: number, sourcePort: number): number {
  const portOf = (address: string) => Number(address.slice(address.lastIndexOf(':') + 1));
  let isRelays = false;
  let sum = 0;
  for (const line of text.split('\n')) {
    const ends = /^\S+\s+\d+\s+\d+\s+(\S+)\s+(\S+)/.exec(line);
    if (ends) isRelays = portOf(ends[1] ?? '') === relayPort || portOf(ends[2] ?? '') === sourcePort;
    const memory = /skmem:\(r(\d+),.*?,f(\d+),w(\d+),/.exec(line);
    if (isRelays && memory) sum += Number(memory[1]) + Number(memory[2]) + Number(memory[3]);
  }
  return sum;
}
