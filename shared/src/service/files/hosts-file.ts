import { readFileSync, statSync } from 'node:fs';
import { isAddressLiteral } from '../../address-policy.ts';

/** A change of the file is seen after so long at most; a look costs a few microseconds. */
const LOOK_INTERVAL_MS = 2000;

/** The hosts file of this machine: what it says of a name counts before DNS. */
export class HostsFile {
  readonly #path: string;
  readonly #nowMs: () => number;
  #addresses: ReadonlyMap<string, readonly string[]> = new Map();
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** What tells one version of the file from another. */
  #version = '';

  constructor(path: string, nowMs: () => number) {
    this.#path = path;
    this.#nowMs = nowMs;
  }

  /** The addresses of a name, in the order of the file; `undefined` where it says nothing of it, or there is none. */
  find(host: string): readonly string[] | undefined {
    this.#look();
    return this.#addresses.get(host.toLowerCase());
  }

  #look(): void {
    const now = this.#nowMs();
    if (Math.abs(now - this.#lookedAtMs) < LOOK_INTERVAL_MS) return;
    this.#lookedAtMs = now;
    try {
      const { ino, size, mtimeMs } = statSync(this.#path);
      const version = `${ino} ${size} ${mtimeMs}`;
      if (version === this.#version) return;
      this.#addresses = parseHosts(readFileSync(this.#path, 'latin1'));
      this.#version = version;
    } catch {
      // There is none, or it is just being replaced: DNS is asked.
      this.#addresses = new Map();
      this.#version = '';
    }
  }
}

/** Where this machine has its hosts file. */
export function hostsPath(): string {
  return process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';
}

function parseHosts(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/s, '').trim().split(/\s+/);
    if (!isAddressLiteral(address)) continue;
    for (const name of names) {
      const addresses = found.get(name.toLowerCase()) ?? [];
      if (!addresses.includes(address)) addresses.push(address);
      found.set(name.toLowerCase(), addresses);
    }
  }
  return found;
}
