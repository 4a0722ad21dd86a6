import { createRequire } from 'node:module';
import type * as promClient from 'prom-client';
import { LIMITS } from './estimates/leg-meter.ts';
import type { LegSampler, LegTotals } from './estimates/leg-sampler.ts';
import type { UplinkUse } from './fairness/uplink-pacer.ts';
import type { DepotEvent } from './plane/events.ts';
import type { LegClass } from './sockets/leg-options.ts';
import type { MptcpCounts } from './sockets/leg-sockets.ts';
import type { TlsUse } from './tls/tls-ending.ts';

// The package as a whole brings what sends metrics elsewhere, and 10 MB with it; its parts have no types of their own.
const part = createRequire(import.meta.url);
const Counter = part('prom-client/lib/counter.js') as typeof promClient.Counter;
const Gauge = part('prom-client/lib/gauge.js') as typeof promClient.Gauge;
const Registry = part('prom-client/lib/registry.js') as typeof promClient.Registry;

/** What is asked when the metrics are read. */
interface Gauges {
  readonly activeTransfers: () => number;
  /** Whether plans may name this depot. */
  readonly isMember: () => boolean;
  readonly openConnections: () => number;
  readonly laneBytes: () => number;
  readonly spareLegs: () => number;
  readonly waitingTransfers: () => number;
  readonly legTotals: LegSampler['totals'];
  readonly mptcp: () => MptcpCounts;
  /** Relay threads that live. */
  readonly relayThreads: () => number;
  /** What relay threads have done of TLS; nothing where Node does it. */
  readonly tls: () => TlsUse | undefined;
  /** Where a rate is configured; it gives nothing where it cannot be kept. */
  readonly uplink: (() => UplinkUse | undefined) | undefined;
  /** By the key that names the certificate. */
  readonly certificateSecondsLeft: () => Readonly<Record<string, number>>;
}

const LEG_CLASSES: readonly LegClass[] = ['client', 'depot', 'origin'];

/** What counts an event, by its type; the others are for the log alone. */
type Counters = {
  readonly [Type in DepotEvent['type']]?: (event: Extract<DepotEvent, { type: Type }>) => void;
};

/** A depot's counters. No label ever holds a URL, a host or a message. */
export function createMetrics(gauges: Gauges) {
  const registry = new Registry();
  const registers = [registry];
  const transfers = new Counter({
    name: 'longhaul_depot_transfers_total',
    help: 'Downloads served as entry depot, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const bodyBytes = new Counter({
    name: 'longhaul_depot_body_bytes_total',
    help: 'Body bytes sent to clients as entry depot',
    registers,
  });
  const tunnels = new Counter({
    name: 'longhaul_depot_tunnels_total',
    help: 'Tunnels that ended, by role in the chain and outcome',
    labelNames: ['role', 'outcome'],
    registers,
  });
  const tunnelBytes = new Counter({
    name: 'longhaul_depot_tunnel_bytes_total',
    help: 'Bytes relayed in tunnels, by direction (down: towards the client)',
    labelNames: ['direction'],
    registers,
  });
  const refusals = new Counter({
    name: 'longhaul_depot_refusals_total',
    help: 'Requests refused or failed, by error code',
    labelNames: ['code'],
    registers,
  });
  const descriptorsOut = new Counter({
    name: 'longhaul_depot_descriptors_out_total',
    help: 'Looks, one each five seconds, and connections to be made that found no further descriptor to be had',
    registers,
  });
  const chainFailures = new Counter({
    name: 'longhaul_depot_chain_failures_total',
    help: 'Chains that could not be set up and were replaced, by error code',
    labelNames: ['code'],
    registers,
  });
  const failovers = new Counter({
    name: 'longhaul_depot_failovers_total',
    help: 'Ways that broke in the middle of a body, by what happened and whether the rest went on over another one',
    labelNames: ['reason', 'outcome'],
    registers,
  });
  const laneEvents = new Counter({
    name: 'longhaul_depot_lane_events_total',
    help: 'What lanes of downloads did: opened, broke, were removed for a while, asked for a late block again, found memory tight, or are asked for one block at a time',
    labelNames: ['event'],
    registers,
  });
  const flows = new Counter({
    name: 'longhaul_depot_relay_flows_total',
    help: 'Tunnels and bodies relayed, by the plane that moves their bytes',
    labelNames: ['plane'],
    registers,
  });
  const legs = new Counter({
    name: 'longhaul_depot_legs_total',
    help: 'Tunnels opened to other depots, over a spare connection or a dialled one',
    labelNames: ['start'],
    registers,
  });
  const preparedWays = new Counter({
    name: 'longhaul_depot_prepared_ways_total',
    help: 'Ways to origins made before their client was there, by what became of them',
    labelNames: ['end'],
    registers,
  });
  const originProbes = new Counter({
    name: 'longhaul_depot_origin_probes_total',
    help: 'Connections opened and closed to learn how far an origin is, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const testBytes = new Counter({
    name: 'longhaul_depot_link_test_bytes_total',
    help: 'Bytes of tests of links to other depots, by what this depot did with them',
    labelNames: ['role'],
    registers,
  });
  const handovers = new Counter({
    name: 'longhaul_depot_handovers_total',
    help: 'Transfers begun for the next depot towards the client, by role in the chain and outcome',
    labelNames: ['role', 'outcome'],
    registers,
  });
  const handoverBytes = new Counter({
    name: 'longhaul_depot_handover_bytes_total',
    help: 'Body bytes handed over to the next depot towards the client',
    registers,
  });
  new Gauge({
    name: 'longhaul_depot_waiting',
    help: 'Transfers that wait for the next depot towards the client',
    registers,
    collect() {
      this.set(gauges.waitingTransfers());
    },
  });
  new Gauge({
    name: 'longhaul_depot_relay_threads',
    help: 'Threads that move bytes inside the kernel; one that died is back after a minute',
    registers,
    collect() {
      this.set(gauges.relayThreads());
    },
  });
  new Gauge({
    name: 'longhaul_depot_member',
    help: '1 while the master counts on this depot, else 0',
    registers,
    collect() {
      this.set(gauges.isMember() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'longhaul_depot_active',
    help: 'Transfers and tunnels running now',
    registers,
    collect() {
      this.set(gauges.activeTransfers());
    },
  });

  new Gauge({
    name: 'longhaul_depot_spare_legs',
    help: 'Connections to other depots that wait for use',
    registers,
    collect() {
      this.set(gauges.spareLegs());
    },
  });
  new Gauge({
    name: 'longhaul_depot_certificate_seconds_left',
    help: 'Time until a certificate expires, by the key of the configuration that names it',
    labelNames: ['certificate'],
    registers,
    collect() {
      this.reset();
      for (const [certificate, seconds] of Object.entries(gauges.certificateSecondsLeft()))
        this.set({ certificate }, seconds);
    },
  });
  addLegMetrics(registers, gauges);
  addTlsMetrics(registers, gauges.tls);
  if (gauges.uplink) addUplinkMetrics(registers, gauges.uplink);
  const connections = new Counter({
    name: 'longhaul_depot_connections_refused_total',
    help: 'Connections closed at once, by the bound they were over',
    labelNames: ['bound'],
    registers,
  });
  new Gauge({
    name: 'longhaul_depot_connections',
    help: 'Open connections of clients and other depots, as limits.connections counts them: without plain tunnels that the kernel relays',
    registers,
    collect() {
      this.set(gauges.openConnections());
    },
  });
  new Gauge({
    name: 'longhaul_depot_lane_bytes',
    help: 'Bytes that lanes hold before their turn, or before their clients read them',
    registers,
    collect() {
      this.set(gauges.laneBytes());
    },
  });
  const lane = ({ type }: DepotEvent) => laneEvents.inc({ event: type });
  const counters: Counters = {
    transfer: ({ outcome, bodyBytes: bytes }) => {
      transfers.inc({ outcome });
      bodyBytes.inc(bytes);
    },
    tunnel: ({ role, outcome, bytesUp, bytesDown }) => {
      tunnels.inc({ role, outcome });
      tunnelBytes.inc({ direction: 'up' }, bytesUp);
      tunnelBytes.inc({ direction: 'down' }, bytesDown);
    },
    handover: ({ role, outcome, bodyBytes: bytes }) => {
      handovers.inc({ role, outcome });
      handoverBytes.inc(bytes);
    },
    'connection-refused': ({ bound, times = 1 }) => connections.inc({ bound }, times),
    'descriptors-out': () => descriptorsOut.inc(),
    refusal: ({ code }) => refusals.inc({ code }),
    flow: ({ plane }) => flows.inc({ plane }),
    leg: ({ start }) => legs.inc({ start }),
    'prepared-way': ({ end }) => preparedWays.inc({ end }),
    'origin-probed': ({ isReached }) => originProbes.inc({ outcome: isReached ? 'reached' : 'failed' }),
    'link-tested': ({ role, bytes }) => testBytes.inc({ role }, bytes),
    failover: ({ reason, to }) => failovers.inc({ reason, outcome: to ? 'repaired' : 'given-up' }),
    'chain-failed': ({ code }) => chainFailures.inc({ code }),
    'lane-opened': lane,
    'lane-broke': lane,
    'lane-removed': lane,
    'block-asked-again': lane,
    'lanes-tight': lane,
    'lanes-fewer': lane,
    'lanes-asked-singly': lane,
  };
  const observe = <Type extends DepotEvent['type']>(event: Extract<DepotEvent, { type: Type }>) =>
    counters[event.type]?.(event);
  return { registry, observe };
}

/** Who ends TLS, and what of it the relay threads have done. */
function addTlsMetrics(registers: promClient.Registry[], read: Gauges['tls']): void {
  new Gauge({
    name: 'longhaul_depot_tls_by_relay_threads',
    help: '1 while the relay threads end TLS, 0 while Node does',
    registers,
    collect() {
      this.set(read()?.isAlive === true ? 1 : 0);
    },
  });
  new Counter({
    name: 'longhaul_depot_tls_handshakes_total',
    help: 'Handshakes that the relay threads have done, by their role and by whether a session was resumed',
    labelNames: ['role', 'resumed'],
    registers,
    collect() {
      this.reset();
      for (const { role, isResumed, count } of read()?.handshakes ?? [])
        this.inc({ role, resumed: String(isResumed) }, count);
    },
  });
}

/** How the uplink is shared; all three are absent where nobody shares it. */
function addUplinkMetrics(registers: promClient.Registry[], read: () => UplinkUse | undefined): void {
  const measured = (name: string, help: string, pick: (use: UplinkUse) => number) => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const use = read();
        if (use) this.set(pick(use));
        else this.remove();
      },
    });
  };
  measured('longhaul_depot_uplink_rate_bps', 'Configured rate of the uplink', ({ rateBps }) => rateBps);
  measured('longhaul_depot_uplink_jobs', 'Downloads that share the uplink now', ({ jobs }) => jobs);
  measured(
    'longhaul_depot_uplink_share_bps',
    'Largest share of the uplink that a download has now: that of one which can use it',
    ({ topShareBps }) => topShareBps,
  );
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** What the kernel says of all connections, by whom they lead to; counted elsewhere and read here. */
function addLegMetrics(registers: promClient.Registry[], { legTotals, mptcp }: Gauges): void {
  const counted = (name: string, help: string, labelNames: string[], read: () => readonly Sample[]) => {
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc(labels, value);
      },
    });
  };
  const perLeg = (read: (totals: LegTotals) => readonly Sample[]) => () =>
    LEG_CLASSES.flatMap((leg) =>
      read(legTotals(leg)).map(([labels, value]): Sample => [{ leg, ...labels }, value]),
    );
  counted(
    'longhaul_depot_connections_total',
    'Times that a connection was taken for a tunnel or a body: one that carries several counts for each',
    ['leg'],
    perLeg(({ legs }) => [[{}, legs]]),
  );
  counted(
    'longhaul_depot_leg_bytes_total',
    'Bytes of TCP payload sent (with repeats), retransmitted and received',
    ['leg', 'kind'],
    perLeg(({ sentBytes, retransmittedBytes, receivedBytes }) => [
      [{ kind: 'sent' }, sentBytes],
      [{ kind: 'retransmitted' }, retransmittedBytes],
      [{ kind: 'received' }, receivedBytes],
    ]),
  );
  counted(
    'longhaul_depot_leg_limited_seconds_total',
    'Time in which senders waited, by what they waited for',
    ['leg', 'by'],
    perLeg(({ limitedMs }) => LIMITS.map((by): Sample => [{ by }, limitedMs[by] / 1000])),
  );
  counted(
    'longhaul_depot_mptcp_total',
    'Multipath connections dialled, by what became of them',
    ['outcome'],
    () => [
      [{ outcome: 'established' }, mptcp().established],
      [{ outcome: 'fallback' }, mptcp().fallbacks],
    ],
  );
}
