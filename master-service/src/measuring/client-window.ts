import type { ClientReport } from '@longhaul/shared';
import * as z from 'zod';
import { estimateOf, type Figure, figureSchema, later, observed } from '../estimates/figure.ts';
import type { Fact } from '../facts/fact.ts';

/**
 * The clients of a network come and go by the day, and so does what is known of their windows: nothing is
 * left of older measurements.
 */
const WINDOW_LIFE_MS = 86_400_000;
/** Windows differ by factors, and what held a connection back may have been a reader that is slow just now. */
const SCATTER = { between: 1, within: 0.3 } as const;
/** Without a scale, and every host can offer this: what claims to be less is a mistake, or a lie. */
const LEAST_BYTES = 65_535;
/** Who offers so many times as much is another client, or reads slowly no more. */
const OTHER_CLIENT = 1.2;
/**
 * Of what a scale can express a host uses so much at least: Linux takes the next larger power of two, and
 * half of a buffer for the window ...
 */
const LEAST_OF_SCALE = 0.25;
/** ... and so much where nobody has seen more. */
const USUAL_OF_SCALE = 0.5;

const mostSeenSchema = z.looseObject({ bytes: z.number().positive(), ageMs: z.number().min(0) });
type MostSeen = Readonly<z.output<typeof mostSeenSchema>>;

/** What a depot has seen of the receive windows of a network's clients, in bytes. */
export const windowFigures = {
  /** Of those that held a connection back. */
  window: figureSchema.optional(),
  /** The largest of a day that was offered, and that the scales of connections can express. */
  offered: mostSeenSchema.optional(),
  scaled: mostSeenSchema.optional(),
} as const;
export type WindowFigures = Readonly<z.output<z.ZodObject<typeof windowFigures>>>;

/** Takes in what a report says of windows; `passedMs` is how long ago the figures were as they are. */
export function withWindows(
  known: WindowFigures | undefined,
  report: Pick<ClientReport, 'windowBytes' | 'leastWindowBytes' | 'mostWindowBytes'>,
  passedMs: number,
): WindowFigures {
  const window = heldBack(known?.window, report.windowBytes, passedMs);
  const offered = mostSeen(known?.offered, report.leastWindowBytes, passedMs);
  const scaled = mostSeen(known?.scaled, report.mostWindowBytes, passedMs);
  return { ...(window ? { window } : {}), ...(offered ? { offered } : {}), ...(scaled ? { scaled } : {}) };
}

function heldBack(known: Figure | undefined, bytes: number | undefined, passedMs: number) {
  if (bytes === undefined) return known && later(known, passedMs);
  return observed(known, Math.max(LEAST_BYTES, bytes), passedMs, WINDOW_LIFE_MS);
}

function mostSeen(known: MostSeen | undefined, bytes: number | undefined, passedMs: number) {
  const left = agedBy(known, passedMs);
  return bytes !== undefined && bytes > 0 && bytes >= (left?.bytes ?? 0) ? { bytes, ageMs: 0 } : left;
}

function agedBy(seen: MostSeen | undefined, passedMs: number): MostSeen | undefined {
  const ageMs = (seen?.ageMs ?? 0) + Math.max(0, passedMs);
  return seen && ageMs <= WINDOW_LIFE_MS ? { ...seen, ageMs } : undefined;
}

/**
 * In bytes: what a window is at most, what it probably is, and the largest that was offered, 0 where nobody
 * has seen one.
 */
export interface ClientWindow {
  readonly mostBytes: number;
  readonly likelyBytes: number;
  readonly offeredBytes: number;
}

/**
 * The window that a network's clients offer, as far as depots have seen it; never more than is assumed. The
 * largest counts: one that is believed too small makes chains look better than they are. Of one that held
 * connections back nothing is believed while another one is larger.
 */
export function windowOf(
  facts: readonly Fact<WindowFigures>[],
  assumedBytes: number,
  nowMs: number,
): ClientWindow {
  const mostOf = (figure: 'offered' | 'scaled') =>
    Math.max(0, ...facts.map(({ value, timeMs }) => agedBy(value[figure], nowMs - timeMs)?.bytes ?? 0));
  const [offeredBytes, scaledBytes] = [mostOf('offered'), mostOf('scaled')];
  const byScale = usualOf(scaledBytes, assumedBytes);
  const prior = { value: byScale.usualBytes, ...SCATTER, source: 'assumed' } as const;
  const heldBackBytes = facts.flatMap(({ value: { window }, timeMs }) => {
    const passedMs = Math.max(0, nowMs - timeMs);
    // What contradicts it is forgotten after as long.
    const isOld = window === undefined || window.ageMs + passedMs > WINDOW_LIFE_MS;
    if (isOld || offeredBytes > OTHER_CLIENT * window.value) return [];
    return [estimateOf(window, passedMs, prior, WINDOW_LIFE_MS).value];
  });
  const bytes = heldBackBytes.length > 0 ? Math.max(...heldBackBytes) : byScale.usualBytes;
  const { leastBytes, mostBytes } = byScale;
  const likelyBytes = Math.min(mostBytes, Math.max(bytes, leastBytes, offeredBytes));
  return { mostBytes, likelyBytes, offeredBytes };
}

/** Between what bounds a window lies by the scale of its connection, where that is known and says anything. */
function usualOf(scaledBytes: number, assumedBytes: number) {
  if (scaledBytes === 0 || scaledBytes >= assumedBytes)
    return { leastBytes: 0, usualBytes: assumedBytes, mostBytes: assumedBytes };
  const isScaled = scaledBytes > LEAST_BYTES;
  return {
    leastBytes: Math.max(LEAST_BYTES, LEAST_OF_SCALE * scaledBytes),
    usualBytes: isScaled ? USUAL_OF_SCALE * scaledBytes : LEAST_BYTES,
    mostBytes: Math.max(LEAST_BYTES, scaledBytes),
  };
}
