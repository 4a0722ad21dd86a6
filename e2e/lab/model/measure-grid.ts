import { setTimeout as delay } from 'node:timers/promises';
import { machineLoad } from '../results/machine-load.ts';
import { rounded } from '../results/rounded.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { measuredOutcome } from '../run/measured-outcome.ts';
import type { RunEvents } from '../run/run-experiment.ts';
import { sideBySide } from '../run/side-by-side.ts';
import { assignLinks, type LegTransfer, settleMs } from './assign-links.ts';
import { LEG_VARIANT } from './grid-cells.ts';
import { LatenessOfEach } from './lateness-of-each.ts';
import { type ParallelLinks, startParallelLinks } from './parallel-links.ts';

export interface GridRun {
  /** In this order, as far as links are free. */
  readonly transfers: readonly LegTransfer[];
  /** Of the emulator's random streams, which run on from one transfer of a link to the next. */
  readonly seed: number;
  readonly cutSeconds: number;
  /** So many times 100 Mbit/s at the same time. */
  readonly atOnce: number;
}

/** Measures single legs over links that share nothing but the machine. */
export async function measureGrid(run: GridRun, events: RunEvents): Promise<void> {
  const work = assignLinks(run.transfers, run.atOnce);
  const first = work.flatMap(({ transfers }) => transfers[0]?.cell.scenario ?? []);
  if (first.length === 0) return;
  events.onPhase(`setting up ${first.length} links at the same time`);
  const sizes = new Set(run.transfers.map(({ cell }) => cell.sizeBytes));
  const links = await startParallelLinks(first, sizes, run.seed);
  const lateness = new LatenessOfEach(links.takeLateness);
  try {
    const order = new Map(run.transfers.map((transfer, at) => [transfer, at]));
    const tasks = work
      .flatMap(({ transfers }, link) => transfers.map((transfer) => ({ transfer, link })))
      .toSorted((one, other) => (order.get(one.transfer) ?? 0) - (order.get(other.transfer) ?? 0))
      .map(({ transfer, link }) => ({
        needs: new Set([String(link)]),
        run: async () => {
          events.signal.throwIfAborted();
          const line = await measureLeg(run, links, lateness, link, transfer);
          // What an interrupt has ended was not measured.
          events.signal.throwIfAborted();
          events.onTransfer(line);
          await delay(settleMs(transfer.cell));
        },
      }));
    await sideBySide(tasks, work.length);
  } finally {
    await links.close();
  }
}

async function measureLeg(
  { seed, cutSeconds }: GridRun,
  links: ParallelLinks,
  lateness: LatenessOfEach,
  link: number,
  { cell, repeat }: LegTransfer,
): Promise<TransferLine> {
  const { scenario, sizeBytes } = cell;
  await links.enter(link, scenario);
  const end = await lateness.begin();
  const outcome = await links.fetch(link, scenario, cutSeconds);
  return {
    experiment: 'model',
    scenario: scenario.id,
    variant: LEG_VARIANT,
    repeat,
    seed,
    sizeBytes,
    ...measuredOutcome(outcome),
    latenessMs: rounded(await end(), 2),
    load: machineLoad(),
  };
}
