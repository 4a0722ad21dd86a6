import type { ClientReport } from '@longhaul/shared';
import * as z from 'zod';
import { estimateOf, type Figure, figureSchema, later, observed, type Prior } from '../estimates/figure.ts';
import type { Fact } from '../facts/fact.ts';

/** How long a machine keeps its buffers, as its round trips: longer than a visit, and no longer than a lease. */
const WINDOW_LIFE_MS = 86_400_000;
/** Windows that are not the usual ones are some times as large or as small; one is measured the same each time. */
const SCATTER = { between: 1, within: 0.1 } as const;
/** Every host can offer this; what claims to be less is a mistake, or a lie. */
const LEAST_BYTES = 65_535;

/** What a depot has seen of the receive windows of a network's clients, in bytes. */
export const windowFigures = {
  /** Of those that held a connection back. */
  window: figureSchema.optional(),
  /** The largest that the scales of connections can express. */
  mostWindow: figureSchema.optional(),
} as const;
export type WindowFigures = Readonly<z.output<z.ZodObject<typeof windowFigures>>>;

/**
 * Takes in what a report says of windows.
 * @param knownBytes what held connections to this network back so far, by all depots: a client that offers more is another one
 */
export function withWindows(
  known: WindowFigures | undefined,
  report: Pick<ClientReport, 'windowBytes' | 'leastWindowBytes' | 'mostWindowBytes'>,
  passedMs: number,
  knownBytes = Number.POSITIVE_INFINITY,
): WindowFigures {
  const { windowBytes, leastWindowBytes = 0, mostWindowBytes } = report;
  const told = windowBytes ?? (leastWindowBytes > knownBytes ? leastWindowBytes : undefined);
  const window = next(known?.window, told, passedMs);
  const mostWindow = next(known?.mostWindow, mostWindowBytes, passedMs);
  return { ...(window ? { window } : {}), ...(mostWindow ? { mostWindow } : {}) };
}

function next(known: Figure | undefined, bytes: number | undefined, passedMs: number): Figure | undefined {
  if (bytes === undefined) return known && later(known, passedMs);
  return observed(known, Math.max(LEAST_BYTES, bytes), passedMs, WINDOW_LIFE_MS);
}

/** What held connections back, by the depot that saw most, however long ago; `undefined` where none did. */
export function heldBackBytes(facts: Iterable<Fact<WindowFigures>>): number | undefined {
  return largest(facts, ({ value }) => value.window?.value);
}

/** The window that a network's clients offer, as far as depots have seen it; never more than is assumed. */
export function windowOf(facts: readonly Fact<WindowFigures>[], assumedBytes: number, nowMs: number): number {
  const prior: Prior = { value: assumedBytes, ...SCATTER, source: 'assumed' };
  const nowOf = (figure: keyof WindowFigures) =>
    largest(facts, ({ value, timeMs }) => {
      const passedMs = Math.max(0, nowMs - timeMs);
      return value[figure] && estimateOf(value[figure], passedMs, prior, WINDOW_LIFE_MS).value;
    });
  return Math.min(assumedBytes, nowOf('window') ?? nowOf('mostWindow') ?? assumedBytes);
}

function largest(
  facts: Iterable<Fact<WindowFigures>>,
  bytesOf: (fact: Fact<WindowFigures>) => number | undefined,
): number | undefined {
  const all = [...facts].flatMap((fact) => bytesOf(fact) ?? []);
  return all.length > 0 ? Math.max(...all) : undefined;
}
