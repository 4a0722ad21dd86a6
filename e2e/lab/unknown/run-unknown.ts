import { setTimeout as delay } from 'node:timers/promises';
import type { UnknownWorld } from '../experiments/unknown-world.ts';
import { machineLoad } from '../results/machine-load.ts';
import type { LineFile } from '../results/result-file.ts';
import { rounded } from '../results/rounded.ts';
import { seededRandom } from '../results/seeded-random.ts';
import { sideBySide } from '../run/side-by-side.ts';
import { hasLed, planBehind } from '../stage/asked-plan.ts';
import { ticketOf } from '../stage/fetch-variant.ts';
import type { TransferOutcome, TransferRequest } from '../transfers/transfer.ts';
import { type OracleLine, outcomeOf, type UnknownLine } from './unknown-line.ts';
import {
  bestWays,
  drawDownloads,
  measuredPairs,
  occupiedBy,
  type Pair,
  stateOf,
  type Way,
} from './unknown-plan.ts';
import { startUnknownStage, type UnknownOverlay, type UnknownStage } from './unknown-stage.ts';

export interface UnknownPlan {
  /** Chains of each pair that are measured, beside direct, and how often each. */
  readonly ways: number;
  readonly measurements: number;
  /** Measurements at the same time, where they do not disturb each other. */
  readonly atOnce: number;
  /** Of all downloads that the world has, so many from the first on. */
  readonly downloads: number;
  readonly seed: number;
}

interface UnknownRun {
  readonly world: UnknownWorld;
  readonly plan: UnknownPlan;
  readonly file: LineFile<UnknownLine>;
  readonly say: (text: string) => void;
  /** Told of each plan as the master explains it, where somebody wants to know. */
  readonly onPlan?: ((number: number, plan: unknown) => void) | undefined;
  readonly signal: AbortSignal;
}

/** Depots tell of what they saw with their heartbeats, once a second. */
const TOLD_MS = 1500;
/** Long flows have left slow start and share the link by then. */
const FLOWS_SETTLE_MS = 2000;

/** Measures what can be had by hand, then lets a fresh overlay plan, which nobody has told anything. */
export async function runUnknown(run: UnknownRun): Promise<void> {
  const { world, plan, file, say, signal } = run;
  const downloads = drawDownloads(world, plan.seed).slice(0, plan.downloads);
  const states = [...new Set(downloads.map(({ state }) => state))];
  say(`setting up ${world.topology.name}`);
  const stage = await startUnknownStage(world, plan.seed);
  try {
    const pending = states.map((state) => ({ state, left: oracleDownloads(run, state) }));
    if (pending.some(({ left }) => left.length > 0)) {
      const overlay = await stage.startOverlay(true);
      for (const { state, left } of pending) {
        say(`measuring ${left.length} downloads by hand: ${world.states[state]?.label ?? state}`);
        await enter(world, stage, state);
        await measureByHand(run, stage, overlay, left);
      }
      await overlay.stop();
    }
    signal.throwIfAborted();
    const attempt =
      1 + Math.max(0, ...file.lines.flatMap((line) => (line.kind === 'auto' ? [line.attempt] : [])));
    await planAll(run, stage, downloads, attempt);
  } finally {
    await stage.close();
  }
}

type ByHand = Pair & { readonly state: string; readonly way: Way; readonly repeat: number };

/** What of one state is not measured yet, in a drawn order. */
function oracleDownloads({ world, plan, file }: UnknownRun, state: string): ByHand[] {
  const keyOf = (line: Pick<OracleLine, 'client' | 'origin' | 'state' | 'chain' | 'repeat'>) =>
    [line.client, line.origin, line.state, line.chain.join('>'), line.repeat].join(' ');
  const done = new Set(file.lines.flatMap((line) => (line.kind === 'oracle' ? [keyOf(line)] : [])));
  const random = seededRandom(plan.seed + 1);
  const downloaded = new Set(
    drawDownloads(world, plan.seed)
      .slice(0, plan.downloads)
      .map(({ client, origin, state }) => `${client} ${origin} ${state}`),
  );
  const pairs = measuredPairs(world).filter(
    (pair) => pair.state === state && downloaded.has(`${pair.client} ${pair.origin} ${pair.state}`),
  );
  return Array.from({ length: plan.measurements }, (_, at) => at + 1).flatMap((repeat) =>
    pairs
      .flatMap((pair) => bestWays(world, pair, plan.ways).map((way) => ({ ...pair, way, repeat })))
      .filter((one) => !done.has(keyOf({ ...one, chain: [...one.way.depots] })))
      .map((one) => ({ one, place: random() }))
      .toSorted((one, other) => one.place - other.place)
      .map(({ one }) => one),
  );
}

async function measureByHand(
  { world, plan, file, say, signal }: UnknownRun,
  stage: UnknownStage,
  overlay: UnknownOverlay,
  left: readonly ByHand[],
): Promise<void> {
  let done = 0;
  const tasks = left.map(({ way, repeat, ...pair }) => ({
    needs: occupiedBy(world, pair, way),
    run: async () => {
      signal.throwIfAborted();
      const isDirect = way.depots.length === 0;
      const outcome = await (isDirect
        ? stage.fetchDirect(pair)
        : overlay.fetch(overlay.requestOf(pair, way)));
      signal.throwIfAborted();
      const { depots, lanes } = way;
      file.append({
        kind: 'oracle',
        ...pair,
        chain: [...depots],
        lanes,
        ...(await measured(stage, outcome)),
        repeat,
      });
      done += 1;
      say(
        `${done} of ${left.length}: ${pair.client} from ${pair.origin} ${depots.join('-') || 'direct'} ${outcome.seconds.toFixed(2)} s`,
      );
    },
  }));
  await sideBySide(tasks, plan.atOnce);
}

async function planAll(
  { world, file, say, signal, onPlan }: UnknownRun,
  stage: UnknownStage,
  downloads: ReturnType<typeof drawDownloads>,
  attempt: number,
): Promise<void> {
  await enter(world, stage, downloads[0]?.state ?? '');
  const overlay = await stage.startOverlay(false);
  const startedMs = performance.now();
  let spell = 0;
  for (const [at, { client, origin, state, spell: own }] of downloads.entries()) {
    signal.throwIfAborted();
    if (own !== spell) await enter(world, stage, state);
    spell = own;
    const request = overlay.requestOf({ client, origin }, 'auto');
    const atSeconds = rounded((performance.now() - startedMs) / 1000, 1);
    const outcome = await overlay.fetch(request);
    const { jobId, chain = [], lanes = 1 } = outcome.finalUrl === null ? {} : ticketOf(outcome.finalUrl);
    const { answer, plan } = await planOf(request, jobId);
    onPlan?.(at + 1, answer);
    await delay(TOLD_MS);
    signal.throwIfAborted();
    const bytes = await overlay.bytes();
    file.append({
      kind: 'auto',
      client,
      origin,
      state,
      chain: [...chain],
      lanes,
      ...(await measured(stage, outcome)),
      attempt,
      number: at + 1,
      spell: own,
      atSeconds,
      ...(plan ? { plan } : {}),
      measuringBytes: bytes.measuring,
      carriedBytes: bytes.carried,
    });
    say(
      `${at + 1} of ${downloads.length} (${state}): ${client} from ${origin} ${chain.join('-') || 'direct'} ${outcome.seconds.toFixed(2)} s, predicted ${plan?.predictedSeconds ?? '?'} s`,
    );
  }
  await overlay.stop();
}

/** The plan behind a download; what it predicted where it is surely the one that led it. */
async function planOf(request: TransferRequest, jobId: string | undefined) {
  const answer = await planBehind(request.network, request);
  if (!answer || !hasLed(answer, jobId)) return { answer };
  const { decisionReason: reason, prediction, direct } = answer;
  return {
    answer,
    plan: {
      reason,
      predictedSeconds: rounded(prediction.seconds, 3),
      predictedDirectSeconds: rounded(direct.seconds, 3),
    },
  };
}

async function enter(world: UnknownWorld, stage: UnknownStage, state: string): Promise<void> {
  await stage.enter(state);
  if (stateOf(world, state).crossTraffic) await delay(FLOWS_SETTLE_MS);
}

async function measured({ network }: UnknownStage, outcome: TransferOutcome) {
  return {
    ...outcomeOf(outcome),
    latenessMs: rounded(await network.takeLateness(), 2),
    load: machineLoad(),
  };
}
