import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { DepotState } from '../depots/registered-depot.ts';
import type { MasterEvent } from '../events.ts';
import type { TableView } from '../prefixes/prefix-files.ts';

const DEPOT_STATES: readonly DepotState[] = ['up', 'draining', 'lost', 'unproved'];

/** Predictions shall be 5 % off in the median, and 20 % for nine of ten. */
const ERROR_BUCKETS = [0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1, 2, 4];
/** A chain shall never cost more than 2 % of direct's time in the median. */
const REGRET_BUCKETS = [0, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 3];

export interface MasterMetrics {
  record(event: MasterEvent): void;
  /** Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** What counts an event, by its type. */
type Counters = {
  readonly [Type in MasterEvent['type']]: (event: Extract<MasterEvent, { type: Type }>) => void;
};

/** What is asked when the metrics are read. */
interface Gauges {
  readonly depotStates: () => readonly DepotState[];
  readonly openConnections: () => number;
  readonly isBusConnected: () => boolean;
  /** Facts held, by kind. */
  readonly facts: () => Readonly<Record<string, number>>;
  readonly prefixTables: () => readonly TableView[];
  /** Prefixes that measurements have placed. */
  readonly measuredPrefixes: () => number;
  /** How many clients were placed by each rule. */
  readonly places: () => Readonly<Record<string, number>>;
  /** By the key that names the certificate. */
  readonly certificateSecondsLeft: () => Readonly<Record<string, number>>;
}

/** Counts what a master does. */
export function createMetrics(gauges: Gauges): MasterMetrics {
  const registry = new Registry();
  const registers = [registry];
  const counters: Counters = {
    ...addDownloadMetrics(registers),
    ...addRequestMetrics(registers, gauges),
    ...addDepotMetrics(registers, gauges.depotStates),
    ...addOriginMetrics(registers),
    ...addOverlayMetrics(registers, gauges),
    ...addPrefixMetrics(registers, gauges),
    'depot-trust': () => {},
    'depot-moved': () => {},
    // Counted by its code among the refusals.
    'depot-refused': () => {},
    'depot-twice': () => {},
    'bus-connected': () => {},
    // The set of keys itself is public.
    'keys-published': () => {},
    'keys-waiting': () => {},
    'facts-restored': () => {},
    // Counted as refused.
    'facts-set-aside': () => {},
    'clock-doubted': () => {},
    'clock-set': () => {},
  };
  return {
    record: <Type extends MasterEvent['type']>(event: Extract<MasterEvent, { type: Type }>) =>
      counters[event.type](event),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** Where downloads are sent, and what comes of them. */
function addDownloadMetrics(registers: Registry[]) {
  const counter = counterIn(registers);
  const redirects = counter('redirects_total', 'Redirects, by decision', ['decision']);
  // Labels are made into a text each time, and of nothing there is more than of redirects.
  const redirectsBy = { chain: redirects.labels('chain'), direct: redirects.labels('direct') };
  const plans = counter('plans_total', 'Plans answered as JSON, by decision', ['decision']);
  const spared = counter(
    'spared_plans_total',
    'Downloads answered without a plan, for which there was no time',
    ['answer'],
  );
  const clientsTold = counter(
    'clients_told_total',
    'Clients that entry depots were told of before they came, by outcome',
    ['outcome'],
  );
  const explored = counter('explored_total', 'Plans that took another chain than the best one, to learn', []);
  const jobsEnded = counter(
    'jobs_ended_total',
    'Planned downloads that their entry depot has told the end of',
    ['outcome'],
  );
  const errors = new Histogram({
    name: 'longhaul_master_prediction_error',
    help: '|ln(measured / predicted seconds)| of whole downloads over the planned chain: 0.1 is 10 %',
    buckets: ERROR_BUCKETS,
    registers,
  });
  const regrets = new Histogram({
    name: 'longhaul_master_regret',
    help: "Share of direct's time by which downloads over a chain took longer, where direct is known; 0 where they were faster",
    buckets: REGRET_BUCKETS,
    registers,
  });
  const feedback = counter('feedback_total', 'What clients told of downloads, and what came of it', [
    'verdict',
    'effect',
  ]);
  return {
    redirected: ({ decision }) => redirectsBy[decision].inc(),
    planned: ({ decision }) => plans.inc({ decision }),
    'plan-spared': () => spared.inc({ answer: 'direct' }),
    'client-told': ({ outcome }) => clientsTold.inc({ outcome }),
    explored: () => explored.inc(),
    'job-ended': ({ outcome, error, regret }) => {
      jobsEnded.inc({ outcome });
      if (error !== undefined) errors.observe(error);
      if (regret !== undefined) regrets.observe(regret);
    },
    feedback: ({ verdict, effect }) => feedback.inc({ verdict, effect }),
  } satisfies Partial<Counters>;
}

/** Connections and requests of anybody. */
function addRequestMetrics(
  registers: Registry[],
  { openConnections, certificateSecondsLeft }: Pick<Gauges, 'openConnections' | 'certificateSecondsLeft'>,
) {
  const counter = counterIn(registers);
  const refusals = counter('refusals_total', 'Refused requests, by code', ['code']);
  const descriptorsOut = counter(
    'descriptors_out_total',
    'Looks, one each five seconds, that found no further descriptor to be had',
    [],
  );
  const failures = counter(
    'failures_total',
    'What failed inside, of requests and of what a master does by itself',
    [],
  );
  const connections = counter(
    'connections_refused_total',
    'Connections closed at once, by the bound they were over',
    ['bound'],
  );
  new Gauge({
    name: 'longhaul_master_connections',
    help: 'Open connections',
    registers,
    collect() {
      this.set(openConnections());
    },
  });
  new Gauge({
    name: 'longhaul_master_certificate_seconds_left',
    help: 'Time until a certificate expires, by the key of the configuration that names it',
    labelNames: ['certificate'],
    registers,
    collect() {
      this.reset();
      for (const [certificate, seconds] of Object.entries(certificateSecondsLeft()))
        this.set({ certificate }, seconds);
    },
  });
  return {
    refused: ({ code }) => refusals.inc({ code }),
    failed: () => failures.inc(),
    'descriptors-out': () => descriptorsOut.inc(),
    'connection-refused': ({ bound }) => connections.inc({ bound }),
  } satisfies Partial<Counters>;
}

/** Which depots there are, and whether they can be reached and believed. */
function addDepotMetrics(registers: Registry[], depotStates: Gauges['depotStates']) {
  const counter = counterIn(registers);
  new Gauge({
    name: 'longhaul_master_depots',
    help: 'Registered depots, by state',
    labelNames: ['state'],
    registers,
    collect() {
      const states = depotStates();
      for (const state of DEPOT_STATES) this.set({ state }, states.filter((one) => one === state).length);
    },
  });
  const enrolments = counter(
    'enrolments_total',
    'Join tokens made and taken back, depots joined, keys renewed and revoked',
    ['what'],
  );
  const registrations = counter('registrations_total', 'Depot registrations taken in', []);
  const heartbeats = counter('heartbeats_total', 'Heartbeats taken in', []);
  const ignored = counter(
    'measurements_ignored_total',
    'Reports of depots that their neighbours contradict',
    [],
  );
  const proofs = counter('address_proofs_total', 'Depots asked to prove their address, by outcome', [
    'outcome',
  ]);
  const notAsked = counter(
    'depots_not_asked_total',
    'Depots that could not be asked for want of something of this master, by code',
    ['code'],
  );
  const downs = counter('depots_down_total', 'Depots that were not there when they were asked', []);
  const unreached = counter(
    'depots_unreached_total',
    'Depots that another one could not connect to, although they were there',
    [],
  );
  return {
    enrolment: ({ what }) => enrolments.inc({ what }),
    'depot-registered': () => registrations.inc(),
    'depot-heard': () => heartbeats.inc(),
    'measurements-ignored': () => ignored.inc(),
    'depot-proved': () => proofs.inc({ outcome: 'proved' }),
    'depot-not-proved': ({ code }) => proofs.inc({ outcome: code }),
    'depot-not-asked': ({ code }) => notAsked.inc({ code }),
    'depot-down': () => downs.inc(),
    'depot-unreached': () => unreached.inc(),
  } satisfies Partial<Counters>;
}

/** Which origins depots have looked for. */
function addOriginMetrics(registers: Registry[]) {
  const counter = counterIn(registers);
  const probes = counter('origin_probes_total', 'Probes of unknown origins, by outcome', ['outcome']);
  const unreached = counter(
    'origins_unreached_total',
    'Origins that a depot could not connect to, so that no chain to them ends there for a while',
    [],
  );
  return {
    'origin-probe': ({ outcome }) => probes.inc({ outcome }),
    'origin-unreached': () => unreached.inc(),
  } satisfies Partial<Counters>;
}

/** What this master knows together with others. */
function addOverlayMetrics(
  registers: Registry[],
  { facts, isBusConnected }: Pick<Gauges, 'facts' | 'isBusConnected'>,
) {
  const counter = counterIn(registers);
  new Gauge({
    name: 'longhaul_master_facts',
    help: 'Facts held, by kind',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset();
      for (const [kind, held] of Object.entries(facts())) this.set({ kind }, held);
    },
  });
  const refusals = counter('facts_refused_total', 'Facts of other masters refused, by code', ['code']);
  new Gauge({
    name: 'longhaul_master_bus_connected',
    help: 'Whether other masters can be told and heard',
    registers,
    collect() {
      this.set(Number(isBusConnected()));
    },
  });
  const busFailures = counter(
    'bus_failures_total',
    'What went wrong with the bus to other masters, by code',
    ['code'],
  );
  return {
    'facts-refused': ({ code, facts: refused }) => refusals.inc({ code }, refused),
    'bus-failed': ({ code }) => busFailures.inc({ code }),
  } satisfies Partial<Counters>;
}

/** What is known of where addresses are. */
function addPrefixMetrics(
  registers: Registry[],
  { prefixTables, measuredPrefixes, places }: Pick<Gauges, 'prefixTables' | 'measuredPrefixes' | 'places'>,
) {
  const read = counterIn(registers)('prefix_files_read_total', 'Files of prefixes read, by outcome', [
    'file',
    'outcome',
  ]);
  const tableGauge = (name: string, help: string, of: (view: TableView) => number) =>
    new Gauge({
      name: `longhaul_master_${name}`,
      help,
      labelNames: ['table'],
      registers,
      collect() {
        this.reset();
        for (const view of prefixTables()) this.set({ table: view.file }, of(view));
      },
    });
  tableGauge('prefixes', 'Prefixes in use, by table', ({ prefixes }) => prefixes);
  tableGauge('prefix_table_bytes', 'Memory of a table of prefixes', ({ bytes }) => bytes);
  new Gauge({
    name: 'longhaul_master_prefixes_measured',
    help: 'Prefixes placed by measurements',
    registers,
    collect() {
      this.set(measuredPrefixes());
    },
  });
  new Counter({
    name: 'longhaul_master_places_total',
    help: 'Clients looked up, by the rule that placed them',
    labelNames: ['rule'],
    registers,
    collect() {
      this.reset();
      for (const [rule, count] of Object.entries(places())) this.inc({ rule }, count);
    },
  });
  return {
    'prefixes-loaded': ({ file }) => read.inc({ file, outcome: 'loaded' }),
    'prefixes-refused': ({ file, code }) => read.inc({ file, outcome: code }),
  } satisfies Partial<Counters>;
}

/** Makes counters of a master's metrics. */
function counterIn(registers: Registry[]) {
  return <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `longhaul_master_${name}`, help, labelNames, registers });
}
