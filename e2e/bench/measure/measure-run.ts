import { setTimeout as delay } from 'node:timers/promises';
import type { Network } from '../../lab/network/network.ts';
import { machineLoad } from '../../lab/results/machine-load.ts';
import { rounded } from '../../lab/results/rounded.ts';
import { type Relay, SITE } from '../relays/relay.ts';
import type { FlowOrder } from '../traffic/traffic-order.ts';
import { processGroup } from './process-group.ts';
import type { RelayLine } from './relay-line.ts';
import type { Traffic } from './traffic.ts';

/** Seldom enough that looking costs the relay's core nothing that could be measured. */
const RSS_INTERVAL_MS = 100;
/** Until the ends of the flows have been worked off: their cost belongs to the run. */
const SETTLE_MS = 150;

/** Flows of one size, and where they lead. */
export interface Load {
  readonly flows: number;
  readonly bodyBytes: number;
}

/** The bench that stands: network, traffic, and where the source listens. */
export interface Bench {
  readonly network: Network;
  readonly traffic: Traffic;
  readonly sourcePort: number;
}

/** What the sink is asked for flows through a relay. */
export function orderFor(bench: Bench, relay: Relay, load: Load): FlowOrder {
  const host = bench.network.addressOf(SITE);
  return { host, port: relay.port, way: relay.way, authority: `${host}:${bench.sourcePort}`, ...load };
}

/** Sends flows through a relay and measures what that costs it. Rejects when a flow fails. */
export async function measureRun(bench: Bench, relay: Relay, load: Load, repeat: number): Promise<RelayLine> {
  const group = processGroup(relay.pid);
  let rssBytes = 0;
  const look = () => {
    rssBytes = Math.max(rssBytes, group.rssBytes());
  };
  const cpuBefore = group.cpuNs();
  const looking = setInterval(look, RSS_INTERVAL_MS);
  try {
    const report = await bench.traffic.order({
      kind: 'take',
      order: orderFor(bench, relay, load),
      verify: false,
    });
    await delay(SETTLE_MS);
    look();
    const cpuSeconds = Number(group.cpuNs() - cpuBefore) / 1e9;
    return {
      bench: 'relay',
      relay: relay.id,
      ...load,
      repeat,
      cpuSecondsPerGB: rounded(cpuSeconds / (report.receivedBytes / 1e9), 5),
      goodputBps: Math.round((report.receivedBytes * 8) / report.seconds),
      rssBytes,
      load: machineLoad(),
    };
  } finally {
    clearInterval(looking);
  }
}
