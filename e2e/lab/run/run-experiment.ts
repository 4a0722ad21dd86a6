import { setTimeout as delay } from 'node:timers/promises';
import type { Fault, Scenario } from '../experiment.ts';
import { type FaultOutcome, fetchThroughFault } from '../faults/fetch-through-fault.ts';
import type { LabOverlay } from '../hosts/lab-overlay.ts';
import { flapLink } from '../network/flap-link.ts';
import type { Network } from '../network/network.ts';
import { machineLoad } from '../results/machine-load.ts';
import { rounded } from '../results/rounded.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { hasLed, planBehind } from '../stage/asked-plan.ts';
import { fetchVariant, requestOf, ticketOf } from '../stage/fetch-variant.ts';
import { type Stage, startStage } from '../stage/stage.ts';
import { legsOfJob } from '../stage/told-by-depots.ts';
import type { TransferOutcome, TransferRequest } from '../transfers/transfer.ts';
import { measuredOutcome } from './measured-outcome.ts';
import { LEARNING_DOWNLOADS, type PlannedTransfer, type RunPlan, type Stint } from './plan-run.ts';

/** What was under way of the last transfer has left the links and their queues by then. */
const SETTLE_MS = 300;
/** Depots tell of what they saw with their heartbeats, once a second. */
const TOLD_MS = 1500;
/** One of them that takes longer has taught what it can. */
const LEARNING_CUT_SECONDS = 60;

export interface RunEvents {
  /** What is happening that takes a while and is no transfer. */
  readonly onPhase: (text: string) => void;
  readonly onTransfer: (line: TransferLine) => void;
  /** Ends the run before the next transfer. */
  readonly signal: AbortSignal;
}

/** Runs what `isDone` does not know yet of a plan, transfer by transfer. */
export async function runExperiment(
  plan: RunPlan,
  isDone: (transfer: PlannedTransfer) => boolean,
  events: RunEvents,
): Promise<void> {
  for (const stint of plan.stints) {
    const turns = stint.turns
      .map((turn) => ({ ...turn, transfers: turn.transfers.filter((transfer) => !isDone(transfer)) }))
      .filter(({ transfers }) => transfers.length > 0);
    if (turns.length > 0) await runStint(plan, { ...stint, turns }, events);
  }
}

async function runStint(plan: RunPlan, { turns, variants }: Stint, events: RunEvents): Promise<void> {
  const [first, ...rest] = turns;
  if (!first) return;
  events.onPhase(`setting up ${first.scenario.topology.name}`);
  const stage = await startStage({
    scenarios: [first.scenario, ...rest.map(({ scenario }) => scenario)],
    variants,
    seed: first.transfers[0]?.seed ?? 0,
  });
  try {
    for (const { scenario, transfers } of turns) {
      events.signal.throwIfAborted();
      await stage.enter(scenario);
      if (scenario.isUntold) await learn(stage, scenario, variants, events);
      for (const transfer of transfers) {
        events.signal.throwIfAborted();
        await stage.refreshTraffic(scenario);
        const line = await runTransfer(plan, stage, transfer);
        await delay(SETTLE_MS);
        // What an interrupt has ended was not measured.
        events.signal.throwIfAborted();
        events.onTransfer(line);
      }
    }
  } finally {
    await stage.close();
  }
}

/** Lets a master that is told of no link plan some downloads that are not measured, where it plans any that are. */
async function learn(
  stage: Stage,
  scenario: Scenario,
  variants: readonly string[],
  { onPhase, signal }: RunEvents,
): Promise<void> {
  const autos = variants.flatMap((id) => {
    const way = scenario.variants[id];
    return way?.kind === 'auto' && !way.fault ? [way] : [];
  });
  for (const way of autos) {
    onPhase(`${LEARNING_DOWNLOADS} downloads from which the overlay learns: ${scenario.label}`);
    for (let number = 0; number < LEARNING_DOWNLOADS; number += 1) {
      signal.throwIfAborted();
      await stage.refreshTraffic(scenario);
      await fetchVariant(way, requestOf(stage, scenario, way, LEARNING_CUT_SECONDS));
      await delay(TOLD_MS);
    }
  }
}

async function runTransfer(plan: RunPlan, stage: Stage, planned: PlannedTransfer): Promise<TransferLine> {
  const { scenario, variant, repeat, seed } = planned;
  const { network } = stage;
  const way = scenario.variants[variant];
  if (!way) throw new Error(`${scenario.id} has no variant ${variant}`);
  const newRequest = () => requestOf(stage, scenario, way, plan.cutSeconds);
  if (scenario.start === 'warm') {
    await fetchVariant(way, newRequest());
    await delay(SETTLE_MS);
  }
  await network.reseed(seed);
  await network.takeLateness();
  const ours = way.kind === 'chain' || way.kind === 'auto' ? way : undefined;
  const fault = ours?.fault;
  const overlay = ours && stage.overlay(ours.laneSetup);
  const changes = fault ? undefined : overlay?.wayChanges;
  const changesBefore = await changes?.();
  const dropsBefore = network.deviceDrops();
  const request = newRequest();
  const crossBefore = await stage.crossBytes();
  const startedMs = performance.now();
  const flapping = scenario.flapping && flapLink(network, scenario.flapping);
  const broken = fault && ours && (await fetchThroughFault(stage, scenario, ours, fault, plan.cutSeconds));
  const outcome = broken ?? (await fetchVariant(way, request));
  const crossBytes = (await stage.crossBytes()) ?? 0;
  const elapsedMs = performance.now() - startedMs;
  await flapping?.stop();
  const latenessMs = await network.takeLateness();
  await broken?.mend();
  const wayChanges = changes && (await changes()) - (changesBefore ?? 0);
  return {
    experiment: plan.experiment.name,
    scenario: scenario.id,
    variant,
    repeat,
    seed,
    sizeBytes: scenario.sizeBytes,
    ...measuredOutcome(outcome),
    latenessMs: rounded(latenessMs, 2),
    load: machineLoad(),
    deviceDrops: network.deviceDrops() - dropsBefore,
    ...(ours && outcome.finalUrl !== null ? optional('chain', ticketOf(outcome.finalUrl).chain) : {}),
    ...(overlay && !fault
      ? await plannedWay(network, overlay, ours?.kind === 'chain', request, outcome)
      : {}),
    ...optional('wayChanges', wayChanges),
    ...(crossBefore === undefined
      ? {}
      : { crossBps: Math.round(((crossBytes - crossBefore) * 8000) / elapsedMs) }),
    ...(outcome.setUpMs === null ? {} : { setUpMs: rounded(outcome.setUpMs, 2) }),
    ...(fault && broken ? suffered(fault, broken) : {}),
  };
}

/** What the plan of a transfer said, and what its depots saw of it. A plan of a chosen way may be asked for anew. */
async function plannedWay(
  network: Network,
  { logs }: LabOverlay,
  isChosen: boolean,
  request: TransferRequest,
  { finalUrl }: TransferOutcome,
) {
  const plan = await planBehind(network, request);
  const ticket = finalUrl === null ? {} : ticketOf(finalUrl);
  const { jobId, lanes } = ticket;
  const legs = jobId === undefined ? [] : await legsOfJob(logs, ticket);
  return {
    ...optional('lanes', lanes),
    ...(plan && (isChosen || hasLed(plan, jobId))
      ? {
          predictedSeconds: rounded(plan.prediction.seconds, 4),
          predictedDirectSeconds: rounded(plan.direct.seconds, 4),
        }
      : {}),
    ...(legs.length > 0 ? { legs } : {}),
  };
}

function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): Partial<Record<Key, Value>> {
  return value === undefined ? {} : ({ [key]: value } as Record<Key, Value>);
}

function suffered({ kind, position, atPercent }: Fault, { pauseMs, attempts }: FaultOutcome) {
  const pause = pauseMs === undefined ? {} : { pauseMs: rounded(pauseMs, 1) };
  return { fault: kind, position, atPercent, ...pause, attempts };
}
