import { CLIENT } from '@longhaul/shared';
import type { LinkEstimate, LinkView } from '../links/link-view.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';

/** So many depots that have measured a client bound by triangles how far all others are. */
const ENOUGH_MET = 3;
/** Depots that a client is asked to greet for one plan. */
const MOST_TO_MEET = 2;

interface ToMeetInit {
  /** The depots that it may pass. */
  readonly usable: readonly PlanningDepot[];
  readonly pair: LinkView['pair'];
  readonly link: (one: typeof CLIENT, other: string) => LinkEstimate | undefined;
  /** 0 to below 1, evenly. */
  readonly random?: () => number;
}

/**
 * The depots that a client may greet, so that they measure how far it is: those that seem to be nearest of
 * all that have not, or, while nobody has an idea where it is, any. None where its links are typed in.
 */
export function depotsToMeet({ usable, pair, link, random = Math.random }: ToMeetInit): string[] {
  if (!pair || pair.met.size >= ENOUGH_MET) return [];
  const others = usable
    .filter(({ id }) => !pair.met.has(id))
    .map(({ id }) => ({ id, known: link(CLIENT, id) }));
  const isTyped = others.some(({ known }) => known && !known.source && known.ageMs === undefined);
  if (isTyped) return [];
  const rttMsOf = (known: LinkEstimate | undefined) =>
    known?.source === 'derived' ? known.rttMs : Number.POSITIVE_INFINITY;
  const drawn = others.map(({ id, known }) => ({ id, rttMs: rttMsOf(known), draw: random() }));
  const nearestFirst = drawn.toSorted((one, other) =>
    one.rttMs === other.rttMs ? one.draw - other.draw : one.rttMs - other.rttMs,
  );
  return nearestFirst.slice(0, MOST_TO_MEET).map(({ id }) => id);
}
