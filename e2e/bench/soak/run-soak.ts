import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatGetPath, MIB, parseOriginUrl } from '@longhaul/shared';
import { originBytes } from '../../lab/hosts/origin-content.ts';
import { seededRandom } from '../../lab/results/seeded-random.ts';
import { type Overlay, startOverlay } from '../../overlay/overlay.ts';
import { onLoopback } from '../../overlay/placement.ts';
import { sha256Hex } from '../../overlay/sample-bytes.ts';
import { type ServiceProcess, startProgram } from '../../overlay/service-process.ts';
import { stateOf } from './process-state.ts';
import { download, type Manner } from './soak-client.ts';
import type { ProcessState, SoakLine, SoakOutcome } from './soak-line.ts';

const HOST = '127.0.0.1';
const ORIGIN_PROGRAM = join(import.meta.dirname, '..', '..', 'lab', 'hosts', 'origin-main.ts');
const DEPOTS = ['d1', 'd2', 'd3'];
const CHAINS = [['d1'], ['d1', 'd2'], ['d3', 'd2', 'd1']];
const SIZES_BYTES = [100_000, 2 * MIB, 12 * MIB];
/** Larger files come over lanes now and then. */
const LANES_FROM_BYTES = 4 * MIB;
/** Before the first look, so that pools, caches and compiled code are there. */
const WARM_UP_SECONDS = 20;
/** What is idle for longer than kept connections and spare legs live has nothing left to close. */
const REST_SECONDS = 35;

export interface SoakOptions {
  readonly seconds: number;
  readonly flows: number;
  readonly seed: number;
  readonly onPhase: (text: string) => void;
}

/**
 * Many downloads at once over real depots on loopback for a long time; a third of them leave at a random
 * moment and some stop reading for a while; the largest come over four lanes now and then. Tells what the
 * depots hold before, meanwhile, after the first half and at the end.
 */
export async function runSoak({ seconds, flows, seed, onPhase }: SoakOptions): Promise<SoakLine> {
  const dir = mkdtempSync(join(tmpdir(), 'longhaul-soak-'));
  const placement = onLoopback(HOST);
  let origin: ServiceProcess | undefined;
  let overlay: Overlay | undefined;
  try {
    const prepared = SIZES_BYTES.flatMap((sizeBytes) => ['--prepare', String(sizeBytes)]);
    origin = await startProgram(
      [ORIGIN_PROGRAM, '--host', HOST, ...prepared],
      dir,
      'origin',
      placement.launchAt('origin'),
    );
    overlay = await startSoakOverlay(dir, Number(new URL(origin.url).port));
    const outcomes = { whole: 0, left: 0, broke: 0, wrong: 0 };
    const links = linkMaker(overlay, origin.url);
    onPhase(`warming up for ${WARM_UP_SECONDS} s`);
    await load(flows, WARM_UP_SECONDS, seed, links, () => {});
    onPhase(`resting for ${REST_SECONDS} s`);
    await delay(REST_SECONDS * 1000);
    const { depots } = overlay;
    const before = depots.map(({ pid }) => stateOf(pid));
    const busy = [...before];
    const runHalf = async (halfSeed: number) => {
      onPhase(`${flows} flows for ${seconds / 2} s`);
      const looking = setInterval(() => {
        for (const [index, { pid }] of depots.entries()) busy[index] = most(busy[index], stateOf(pid));
      }, 1000);
      await load(flows, seconds / 2, halfSeed, links, (outcome) => {
        outcomes[outcome] += 1;
      });
      clearInterval(looking);
      onPhase(`resting for ${REST_SECONDS} s`);
      await delay(REST_SECONDS * 1000);
      return depots.map(({ pid }) => stateOf(pid));
    };
    const half = await runHalf(seed + 1);
    const after = await runHalf(seed + 2);
    const { metric } = overlay;
    const active = await Promise.all(DEPOTS.map((id) => metric(id, 'longhaul_depot_active')));
    return {
      bench: 'soak',
      flows,
      seconds,
      outcomes,
      depots: DEPOTS.map((id, index) => {
        const { pid = 0 } = depots[index] ?? {};
        const first = before[index] ?? stateOf(pid);
        return {
          id,
          before: first,
          busy: busy[index] ?? first,
          half: half[index] ?? first,
          after: after[index] ?? first,
          active: active[index] ?? 0,
        };
      }),
    };
  } finally {
    await Promise.allSettled([overlay?.stop(), origin?.stop()]);
    rmSync(dir, { recursive: true, force: true });
  }
}

function startSoakOverlay(dir: string, originPort: number): Promise<Overlay> {
  return startOverlay({
    dir,
    placement: onLoopback(HOST),
    depots: DEPOTS.map((id) => ({ id })),
    links: [],
    origins: [`${HOST}:${originPort}`],
    originNetwork: '127.0.0.0/8',
    originPorts: [originPort],
    // Everything comes from one address here, which is no attack.
    masterConfig: { planner: { allowVia: true }, limits: { connectionsPerNetwork: 10_000 } },
    depotConfig: {
      limits: {
        transfers: 4000,
        perClient: 4000,
        perNetwork: 4000,
        perJob: 2000,
        perOrigin: 4000,
        connectionsPerNetwork: 10_000,
        waitingPerNetwork: 10_000,
      },
    },
  });
}

type Links = (chain: readonly string[], sizeBytes: number, lanes: number) => string;

function linkMaker(overlay: Overlay, originUrl: string): Links {
  let files = 0;
  return (chain, sizeBytes, lanes) => {
    files += 1;
    const url = parseOriginUrl(`${originUrl}/${sizeBytes}/${files}.bin`);
    if (!url.ok) throw url.error;
    return overlay.master.url + formatGetPath(url.value, { via: chain.toReversed(), lanes });
  };
}

/** Keeps so many downloads going for a time, then waits for the last ones. */
async function load(
  flows: number,
  seconds: number,
  seed: number,
  links: Links,
  onOutcome: (outcome: SoakOutcome) => void,
): Promise<void> {
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const digests = new Map(SIZES_BYTES.map((sizeBytes) => [sizeBytes, sha256Hex(originBytes(sizeBytes))]));
  const endMs = performance.now() + seconds * 1000;
  const flow = async () => {
    while (performance.now() < endMs) {
      const sizeBytes = pick(SIZES_BYTES);
      const link = links(pick(CHAINS), sizeBytes, sizeBytes > LANES_FROM_BYTES ? pick([1, 1, 4]) : 1);
      onOutcome(await download(link, digests.get(sizeBytes) ?? '', mannerOf(random, sizeBytes)));
    }
  };
  await Promise.all(Array.from({ length: flows }, flow));
}

function mannerOf(random: () => number, sizeBytes: number): Manner {
  const dice = random();
  const afterBytes = Math.floor(random() * sizeBytes);
  if (dice < 0.05) return { kind: 'leaves', afterBytes: 0 };
  if (dice < 0.35) return { kind: 'leaves', afterBytes };
  if (dice < 0.5) return { kind: 'pauses', afterBytes, pauseMs: random() * 3000 };
  return { kind: 'reads-all' };
}

function most(one: ProcessState | undefined, other: ProcessState): ProcessState {
  if (!one) return other;
  return {
    descriptors: Math.max(one.descriptors, other.descriptors),
    pipes: Math.max(one.pipes, other.pipes),
    sockets: Math.max(one.sockets, other.sockets),
    residentBytes: Math.max(one.residentBytes, other.residentBytes),
  };
}
