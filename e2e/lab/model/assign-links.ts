import { modelledSeconds, modelledWay } from '../experiments/predictions.ts';
import { type GridCell, LEG_VARIANT } from './grid-cells.ts';

/** One transfer of a cell. */
export interface LegTransfer {
  readonly cell: GridCell;
  /** From 1. */
  readonly repeat: number;
}

/** What one of the links that go on at the same time has to do, in this order. */
export interface LinkWork {
  readonly transfers: readonly LegTransfer[];
  readonly seconds: number;
}

/** A transfer that is predicted to bring more than this takes a good part of what the machine can carry. */
const WIDE_BPS = 20e6;
/** As many transfers below that as one of 100 Mbit/s. */
const NARROW_LINKS = 5;
/** Between two transfers of a link: its conditions change, a client starts, bytes are compared. */
const BETWEEN_SECONDS = 0.5;

/** What was under way of a transfer, also of one that was cut, has left link and queue by then. */
export function settleMs({ rttMs }: Pick<GridCell, 'rttMs'>): number {
  return 300 + 3 * rttMs;
}

/**
 * Spreads transfers over links, so that at most `atOnce` times 100 Mbit/s are asked of the machine at the
 * same time: those that are predicted to be fast over one link fewer, all others over links of their own.
 * Each goes to the link that is through first.
 */
export function assignLinks(transfers: readonly LegTransfer[], atOnce: number): LinkWork[] {
  const rated = transfers.map((transfer) => ({ transfer, ...expectationOf(transfer.cell) }));
  const wide = rated.filter(({ bps }) => bps > WIDE_BPS);
  const narrow = rated.filter(({ bps }) => bps <= WIDE_BPS);
  return [...spread(wide, Math.max(1, atOnce - 1)), ...spread(narrow, NARROW_LINKS)];
}

interface RatedTransfer {
  readonly transfer: LegTransfer;
  readonly seconds: number;
}

function spread(rated: readonly RatedTransfer[], count: number): LinkWork[] {
  const links = Array.from({ length: Math.min(count, rated.length) }, () => ({
    transfers: [] as LegTransfer[],
    seconds: 0,
  }));
  for (const { transfer, seconds } of rated) {
    const next = links.reduce((least, link) => (link.seconds < least.seconds ? link : least));
    next.transfers.push(transfer);
    next.seconds += seconds;
  }
  return links;
}

function expectationOf(cell: GridCell): { readonly bps: number; readonly seconds: number } {
  const { scenario, sizeBytes } = cell;
  const way = modelledWay(scenario, scenario.variants[LEG_VARIANT] ?? { kind: 'direct' });
  const seconds = way ? modelledSeconds(way, sizeBytes) : 0;
  return {
    bps: (8 * sizeBytes) / seconds,
    seconds: seconds + BETWEEN_SECONDS + settleMs(cell) / 1000,
  };
}
