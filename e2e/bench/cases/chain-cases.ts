import { setTimeout as delay } from 'node:timers/promises';
import { rounded } from '../../lab/results/rounded.ts';
import { processGroup } from '../measure/process-group.ts';
import type { BenchCase, CaseStage } from './bench-case.ts';
import type { CaseId } from './case-id.ts';
import { type CaseOverlay, startCaseOverlay } from './case-overlay.ts';
import { takeByCurl } from './curl-sink.ts';
import { LANE_BYTES, MANY_BYTES, QUICK_LARGE_BYTES, SMALL_BYTES } from './open-case-stage.ts';
import { runClient } from './run-client.ts';

const CHAIN = ['d1', 'd2', 'd3'];
/** Until the ends of the downloads have been worked off. */
const SETTLE_MS = 150;
/** Downloads at once that are read slowly, at which rate, and for how long others are looked at. */
const CROWD = 150;
const CROWD_BYTES_PER_SECOND = 1_000_000;
const CROWD_SECONDS = 7;
const PROBE_INTERVAL_MS = 100;
/** Of a client in another network than the crowd's. */
const ELSEWHERE = '127.0.2.7';
/** Small downloads of a run, and how many are under way at once. */
const BEGINNINGS = 1000;
const QUICK_BEGINNINGS = 300;
const BEGINNINGS_AT_ONCE = 16;
/** Before what loads its core. */
const FIRST = -10;

export const CHAIN_CASES: readonly BenchCase[] = [
  { id: 'lanes', warmsUp: true, start: startLanes },
  { id: 'lanes-150', warmsUp: true, start: startCrowd },
  beginningCase('beginnings-1', ['d1']),
  beginningCase('beginnings-3', CHAIN),
];

/** The entry depot has the relay's core for itself. */
function startChain(stage: CaseStage, chain: readonly string[], depotConfig: object = {}) {
  const depots = chain.map((id, index) => ({
    id,
    cores: index === 0 ? ('relay' as const) : ('traffic' as const),
  }));
  return startCaseOverlay(stage, { depots, depotConfig });
}

/** CPU seconds of each depot of a chain while something is done. */
async function cpuSecondsOf(
  overlay: CaseOverlay,
  chain: readonly string[],
  work: () => Promise<unknown>,
): Promise<{ readonly entry: number; readonly middle: number; readonly exit: number }> {
  const groups = chain.map((id) => processGroup(overlay.pidOf(id)));
  const before = groups.map((group) => group.cpuNs());
  await work();
  await delay(SETTLE_MS);
  const seconds = groups.map((group, index) => Number(group.cpuNs() - (before[index] ?? 0n)) / 1e9);
  return { entry: seconds[0] ?? 0, middle: seconds[1] ?? 0, exit: seconds.at(-1) ?? 0 };
}

async function startLanes(stage: CaseStage) {
  const overlay = await startChain(stage, CHAIN);
  const bodyBytes = stage.isQuick ? QUICK_LARGE_BYTES : LANE_BYTES;
  const parties = [1, 4, 8].map((lanes) => ({
    name: lanes === 1 ? 'one connection' : `${lanes} lanes`,
    measure: async () => {
      let seconds = 0;
      const address = overlay.address({ chain: CHAIN, lanes, path: `/b${bodyBytes}` });
      const cpu = await cpuSecondsOf(overlay, CHAIN, async () => {
        seconds = await takeByCurl(stage, { addresses: [address], bodyBytes });
      });
      const bodyGB = bodyBytes / 1e9;
      return {
        entryCpuSecondsPerGB: rounded(cpu.entry / bodyGB, 3),
        exitCpuSecondsPerGB: rounded(cpu.exit / bodyGB, 3),
        goodputGbps: rounded((bodyGB * 8) / seconds, 3),
      };
    },
  }));
  return { parties, stop: overlay.stop };
}

type Probes = Readonly<Record<string, { readonly worstMs: number; readonly medianMs: number }>>;

async function startCrowd(stage: CaseStage) {
  const overlay = await startChain(stage, CHAIN);
  const bodyBytes = MANY_BYTES;
  const small = `/b${SMALL_BYTES}`;
  const look = () => {
    const lines = Array.from({ length: (CROWD_SECONDS * 1000) / PROBE_INTERVAL_MS }, () => [
      `health ${overlay.urlOf('d1')}/healthz`,
      `small ${overlay.address({ chain: ['d1'], path: small })}`,
      `elsewhere ${overlay.address({ chain: ['d1'], path: small })} ${ELSEWHERE}`,
      `origin http://${stage.host}:${stage.origin.httpPort}${small}`,
    ]);
    return runClient<Probes>(stage, {
      program: 'probe-main.ts',
      args: [String(PROBE_INTERVAL_MS)],
      input: lines.flat().join('\n'),
      niceness: FIRST,
    });
  };
  const parties = [1, 4].map((lanes) => ({
    name: lanes === 1 ? 'one connection' : `${lanes} lanes`,
    measure: async () => {
      const addresses = Array.from({ length: CROWD }, () =>
        overlay.address({ chain: CHAIN, lanes, path: `/b${bodyBytes}` }),
      );
      let probes: Probes = {};
      const cpu = await cpuSecondsOf(overlay, CHAIN, async () => {
        const taken = takeByCurl(stage, {
          addresses,
          bodyBytes,
          rateBytesPerSecond: CROWD_BYTES_PER_SECOND,
        });
        [probes] = await Promise.all([look(), taken]);
      });
      const bodyGB = (CROWD * bodyBytes) / 1e9;
      return {
        entryCpuSecondsPerGB: rounded(cpu.entry / bodyGB, 3),
        exitCpuSecondsPerGB: rounded(cpu.exit / bodyGB, 3),
        healthWorstMs: rounded(probes.health?.worstMs ?? Number.NaN, 1),
        firstByteWorstMs: rounded(probes.small?.worstMs ?? Number.NaN, 1),
        elsewhereWorstMs: rounded(probes.elsewhere?.worstMs ?? Number.NaN, 1),
        firstByteMedianMs: rounded(probes.small?.medianMs ?? Number.NaN, 1),
        originWorstMs: rounded(probes.origin?.worstMs ?? Number.NaN, 1),
      };
    },
  }));
  return { parties, stop: overlay.stop };
}

function beginningCase(id: CaseId, chain: readonly string[]): BenchCase {
  return {
    id,
    warmsUp: true,
    start: async (stage) => {
      const overlay = await startChain(stage, chain);
      const count = stage.isQuick ? QUICK_BEGINNINGS : BEGINNINGS;
      const measure = async () => {
        const addresses = Array.from({ length: count }, () =>
          overlay.address({ chain, path: `/b${SMALL_BYTES}` }),
        );
        const cpu = await cpuSecondsOf(overlay, chain, async () => {
          const { whole, firstWrong } = await runClient<{ whole: number; firstWrong?: string }>(stage, {
            program: 'beginnings-main.ts',
            args: [String(BEGINNINGS_AT_ONCE), String(SMALL_BYTES)],
            input: addresses.join('\n'),
          });
          if (whole !== count) throw new Error(`${whole} of ${count} were whole: ${firstWrong}`);
        });
        const each = (seconds: number) => rounded((seconds * 1000) / count, 3);
        return {
          entryCpuMs: each(cpu.entry),
          ...(chain.length > 2 ? { middleCpuMs: each(cpu.middle) } : {}),
          ...(chain.length > 1 ? { exitCpuMs: each(cpu.exit) } : {}),
        };
      };
      return { parties: [{ name: 'longhaul', measure }], stop: overlay.stop };
    },
  };
}
