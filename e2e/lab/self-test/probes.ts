import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { SEGMENT_BYTES } from '@longhaul/shared';
import type { DirectionSettings, LinkDirection } from '../emulator/link-settings.ts';
import type { DirectionCounters } from '../emulator/packet-direction.ts';
import type { Network } from '../network/network.ts';

const PROBE_PROGRAM = join(import.meta.dirname, 'probe-main.ts');
/** Until a TCP flow fills its path: slow start to the largest window, and the queue that it leaves. */
const STEADY_AFTER_MS = 1500;
const RATE_WINDOW_MS = 2000;
const FULL_PACKET_BYTES = 1500;
const SMALL_PROBE_BYTES = 64;
/** What IPv4 and UDP put before a probe's payload. */
export const PROBE_HEADERS_BYTES = 28;

/** Sends packets and flows from one site of a network to another and looks what becomes of them. */
export class Probes {
  readonly network: Network;
  readonly #from: string;
  readonly #to: string;
  readonly #reflectorPort: number;
  /** A program at the far site, by which its devices' counters are found. */
  readonly #farPid: number;

  private constructor(
    network: Network,
    sites: readonly [string, string],
    far: { port: number; pid: number },
  ) {
    this.network = network;
    [this.#from, this.#to] = sites;
    this.#reflectorPort = far.port;
    this.#farPid = far.pid;
  }

  /** Starts what it needs at both sites; it ends with the network. */
  static async start(network: Network, from: string, to: string): Promise<Probes> {
    const program = spawnProbe(network, to, ['reflect', network.addressOf(to)]);
    return new Probes(network, [from, to], { port: Number(await firstLine(program)), pid: program.pid ?? 0 });
  }

  /** Changes the one link between the two sites. */
  async setLink(direction: LinkDirection | 'both', change: Partial<DirectionSettings>): Promise<void> {
    await this.network.setLink({ from: this.#from, to: this.#to, direction }, change);
  }

  /** Round-trip times of small packets in milliseconds, in the order of sending; null for those without an answer. */
  async probe(plan: {
    count: number;
    batch: number;
    intervalMs: number;
    /** Payload of a probe: its number, and enough to look like a packet. */
    sizeBytes?: number;
  }): Promise<(number | null)[]> {
    const { count, batch, intervalMs, sizeBytes = SMALL_PROBE_BYTES } = plan;
    const numbers = [this.#reflectorPort, count, batch, intervalMs, sizeBytes].map(String);
    const address = this.network.addressOf(this.#to);
    const program = spawnProbe(this.network, this.#from, ['probe', address, ...numbers]);
    return JSON.parse(await firstLine(program)) as (number | null)[];
  }

  /** TCP payload that one flow brings to the far end, in bits per second, counted in full packets. */
  async payloadBps(): Promise<number> {
    const traffic = await this.network.startCrossTraffic([{ from: this.#from, to: this.#to, flows: 1 }]);
    try {
      await delay(STEADY_AFTER_MS);
      const [startMs, before] = [performance.now(), receivedBytes(this.#farPid)];
      await delay(RATE_WINDOW_MS);
      const [endMs, after] = [performance.now(), receivedBytes(this.#farPid)];
      return ((after - before) * 8000 * SEGMENT_BYTES) / FULL_PACKET_BYTES / (endMs - startMs);
    } finally {
      await traffic.stop();
    }
  }

  /** What the emulator has counted on the one link between the two sites, towards the far one. */
  counters(): Promise<DirectionCounters> {
    return this.network.countersOf(this.#from, this.#to);
  }
}

function spawnProbe(network: Network, site: string, args: readonly string[]): ChildProcess {
  return network.spawn(site, [process.execPath, PROBE_PROGRAM, ...args], ['ignore', 'pipe', 'inherit']);
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('a probe has no output');
  const lines = createInterface({ input: stdout });
  const ended = once(lines, 'close').then(() => undefined);
  const line = await Promise.race([once(lines, 'line').then(([text]) => text as string), ended]);
  if (line === undefined) throw new Error('a probe ended before it said anything');
  return line;
}

/** Sum over the devices of the namespace that a process is in, without the loopback; from `/proc/net/dev`. */
function receivedBytes(pid: number): number {
  return readFileSync(`/proc/${pid}/net/dev`, 'utf8')
    .split('\n')
    .slice(2)
    .map((row) => row.trim().split(/[:\s]+/))
    .filter(([name]) => name !== '' && name !== 'lo')
    .reduce((total, [, bytes]) => total + Number(bytes), 0);
}
