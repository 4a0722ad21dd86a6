import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { requireProgram } from '../../lab/programs.ts';
import { machineLoad } from '../../lab/results/machine-load.ts';
import { rounded } from '../../lab/results/rounded.ts';
import { type Relay, SITE } from '../relays/relay.ts';
import { parseSocketMemory, tcpMemoryBytes } from './kernel-memory.ts';
import { type Bench, orderFor } from './measure-run.ts';
import { processGroup } from './process-group.ts';
import type { HeldLine } from './relay-line.ts';

/** What an idle flow has carried before it rests, unless the relay needs more to begin. */
const IDLE_FIRST_BYTES = 1000;
/** More than all buffers of a stalled flow hold, and never sent whole. */
const RESTING_BODY_BYTES = 1e12;
/** Buffers are full when the kernel's memory has not grown by more than this share from one look to the next. */
const STILL_SHARE = 0.005;
/** The kernel's own count is exact to about this. */
const STILL_BYTES = 1024 * 1024;
const LOOK_MS = 300;
const MOST_LOOKS = 60;
/** After which a relay rests: what tidies up in a quiet moment has done so. */
const REST_MS = 5000;
/** How long the relay's CPU is watched. */
const WATCH_MS = 2000;

/** Opens flows through a relay, lets them rest, and measures what that holds. Rejects when one cannot be opened. */
export async function measureHeld(
  bench: Bench,
  relay: Relay,
  held: HeldLine['held'],
  flows: number,
): Promise<HeldLine> {
  // What ran before may still be draining.
  await untilStill();
  await delay(REST_MS);
  const group = processGroup(relay.pid);
  const before = { rss: group.rssBytes(), descriptors: group.descriptors(), tcp: tcpMemoryBytes() };
  const order = orderFor(bench, relay, { flows, bodyBytes: RESTING_BODY_BYTES });
  const firstBytes = relay.leastBytes ?? IDLE_FIRST_BYTES;
  const isIdle = held === 'idle';
  try {
    await bench.traffic.order(
      isIdle
        ? { kind: 'hold', order: { ...order, firstBytes }, takeBytes: 1 }
        : { kind: 'hold', order, takeBytes: 1 },
    );
    await untilStill();
    await delay(REST_MS);
    const [cpu, since] = [group.cpuNs(), performance.now()];
    await delay(WATCH_MS);
    const cpuShare = Number(group.cpuNs() - cpu) / 1e6 / (performance.now() - since);
    return {
      bench: 'relay-held',
      relay: relay.id,
      held,
      flows,
      rssGrowthBytes: group.rssBytes() - before.rss,
      descriptorGrowth: group.descriptors() - before.descriptors,
      cpuShare: rounded(cpuShare, 5),
      socketBytes: await socketBytes(bench, relay),
      tcpMemoryGrowthBytes: tcpMemoryBytes() - before.tcp,
      load: machineLoad(),
    };
  } finally {
    await bench.traffic.order({ kind: 'release' });
  }
}

/** Waits until the kernel's memory for TCP neither grows nor shrinks, or for {@link MOST_LOOKS} looks. */
export async function untilStill(): Promise<void> {
  let last = Number.NaN;
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    await delay(LOOK_MS);
    const now = tcpMemoryBytes();
    if (Math.abs(now - last) <= Math.max(STILL_BYTES, STILL_SHARE * last)) return;
    last = now;
  }
}

async function socketBytes({ network, sourcePort }: Bench, relay: Relay): Promise<number> {
  if (relay.pid === undefined) return 0;
  const { stdout } = network.spawn(SITE, [requireProgram('ss'), '-tnmH'], ['ignore', 'pipe', 'ignore']);
  return stdout ? parseSocketMemory(await text(stdout), relay.port, sourcePort) : 0;
}
