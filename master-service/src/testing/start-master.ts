import { ok } from '@longhaul/shared';
import type { StateFolder } from '@longhaul/shared/service';
import { createMaster, type Master } from '../app.ts';
import type { StateBus } from '../bus/state-bus.ts';
import { type MasterConfig, readMasterConfig } from '../config.ts';
import type { AskDepot } from '../depots/ask-depot.ts';
import type { DepotStore } from '../depots/depot-store.ts';
import type { EnrolmentStore } from '../enrolment/enrolment-store.ts';
import type { MasterEvent } from '../events.ts';
import type { FactsFile } from '../facts/facts-file.ts';
import { generateSigningKey, type SigningKey } from '../keys/signing-key.ts';
import type { PrefixPaths } from '../prefixes/prefix-files.ts';
import { MemoryDepotStore } from './memory-depot-store.ts';

/** A clock that stands still until a test moves it. */
export class TestClock {
  nowMs = 1_795_000_000_000;

  advance(seconds: number): void {
    this.nowMs += seconds * 1000;
  }
}

export interface TestMaster {
  readonly url: string;
  readonly port: number;
  readonly clock: TestClock;
  readonly secret: string;
  readonly signingKey: SigningKey;
  readonly events: readonly MasterEvent[];
  readonly master: Master;
}

interface TestMasterInit {
  /** Added to a configuration that listens on loopback and serves `origin.example` and everything below it. */
  readonly config?: object;
  readonly depotStore?: DepotStore;
  readonly webDir?: string;
  readonly factsFile?: FactsFile;
  readonly enrolmentStore?: EnrolmentStore;
  readonly keyFolder?: StateFolder;
  /** Left out, one of its own. */
  readonly signingKey?: SigningKey;
  /** What other masters of the test are met on. */
  readonly bus?: StateBus;
  readonly clock?: TestClock;
  /** Left out, what `clock` shows. */
  readonly steadyMs?: () => number;
  readonly prefixPaths?: PrefixPaths;
  readonly random?: () => number;
  /** Left out, every depot proves its address; `undefined`, depots are really asked. */
  readonly askDepot?: AskDepot | undefined;
}

/** The links of the tests: far, lossy, and much faster over d1 and d2. d3 is the second-best entry. */
export const TEST_LINKS = [
  { between: ['client', 'origin'], rttMs: 200, lossRate: 0.001, rateBps: 200e6 },
  { between: ['client', 'd1'], rttMs: 5, rateBps: 200e6 },
  { between: ['d1', 'd2'], rttMs: 190, lossRate: 0.001, rateBps: 1e9, windowBytes: 64e6 },
  { between: ['d2', 'origin'], rttMs: 5, rateBps: 1e9 },
  { between: ['client', 'd3'], rttMs: 40, rateBps: 100e6 },
  { between: ['d3', 'd2'], rttMs: 180, lossRate: 0.001, rateBps: 1e9, windowBytes: 64e6 },
];

export const TEST_SECRET = 'a-secret-of-the-tests';

/** Starts a master on a free port of the loopback address. The caller closes `master`. */
export async function startMaster(init: TestMasterInit = {}): Promise<TestMaster> {
  const created = createTestMaster(init);
  const { url } = await created.master.listen();
  return { ...created, url, port: Number(new URL(url).port) };
}

/** The same before it starts. */
export function createTestMaster(init: TestMasterInit = {}): Omit<TestMaster, 'url' | 'port'> {
  const clock = init.clock ?? new TestClock();
  const signingKey = init.signingKey ?? generateSigningKey();
  const events: MasterEvent[] = [];
  const master = createMaster({
    config: testConfig(init.config),
    signingKey,
    enrolmentSecret: TEST_SECRET,
    depotStore: init.depotStore ?? new MemoryDepotStore(),
    webDir: init.webDir ?? '/there/is/no/page',
    prefixPaths: init.prefixPaths ?? {},
    version: '1.2.3',
    now: () => clock.nowMs,
    // Its clock is moved, not set.
    steadyMs: init.steadyMs ?? (() => clock.nowMs),
    ...(init.enrolmentStore ? { enrolmentStore: init.enrolmentStore } : {}),
    ...(init.keyFolder ? { keyFolder: init.keyFolder } : {}),
    ...(init.factsFile ? { factsFile: init.factsFile } : {}),
    ...(init.bus ? { bus: init.bus } : {}),
    ...(init.random ? { random: init.random } : {}),
    onEvent: (event) => events.push(event),
    ...('askDepot' in init && !init.askDepot ? {} : { askDepot: init.askDepot ?? believeDepot }),
  });
  return { clock, secret: TEST_SECRET, signingKey, events, master };
}

const believeDepot: AskDepot = async ({ host }) => ok({ addresses: [host] });

/** The configuration of `startMaster`, checked as a file would be; the depots' hosts send with BBR. */
export function testConfig(overrides: object = {}): MasterConfig {
  const { planner = {}, addresses = {} } = overrides as { planner?: object; addresses?: object };
  return readMasterConfig({
    listen: { host: '127.0.0.1', port: 0 },
    stateDir: 'unused',
    origins: ['origin.example', '*.origin.example'],
    links: TEST_LINKS,
    ...overrides,
    addresses: { overlayNetworks: ['127.0.0.0/8', '::1/128'], ...addresses },
    // What is planned must not be up to chance.
    planner: { assumptions: { depotSender: 'bbr' }, explore: { share: 0 }, ...planner },
  });
}
