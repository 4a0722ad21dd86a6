import type { RelayLine } from '../measure/relay-line.ts';
import { RELAY_IDS, type RelayId } from '../relays/relay-id.ts';

/** All runs of one relay under one load; the load is told by the number of flows. */
export interface RelayCell {
  readonly relay: RelayId;
  /** Place among all relays, which decides colour and mark. */
  readonly series: number;
  readonly flows: number;
  readonly bodyBytes: number;
  /** At least one. */
  readonly lines: readonly RelayLine[];
  readonly cpuSecondsPerGB: readonly number[];
  readonly goodputsBps: readonly number[];
}

/** Sorts runs into cells: loads in rising order, relays in the order of the report. */
export function relayCells(lines: readonly RelayLine[]): RelayCell[] {
  const loads = [...new Set(lines.map(({ flows }) => flows))].toSorted((a, b) => a - b);
  return loads.flatMap((flows) =>
    RELAY_IDS.flatMap((relay, series): RelayCell[] => {
      const own = lines.filter((line) => line.relay === relay && line.flows === flows);
      const [first] = own;
      if (!first) return [];
      return [
        {
          relay,
          series,
          flows,
          bodyBytes: first.bodyBytes,
          lines: own,
          cpuSecondsPerGB: own.map((line) => line.cpuSecondsPerGB),
          goodputsBps: own.map((line) => line.goodputBps),
        },
      ];
    }),
  );
}

/** Cells of one load each, in rising order. */
export function byLoad(cells: readonly RelayCell[]): RelayCell[][] {
  return [...Map.groupBy(cells, ({ flows }) => flows).values()];
}

export function cellOf(cells: readonly RelayCell[], relay: RelayId, flows: number): RelayCell | undefined {
  return cells.find((cell) => cell.relay === relay && cell.flows === flows);
}
