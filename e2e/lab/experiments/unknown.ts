import { CONTINENTS } from './unknown-continents.ts';
import { EUROPE } from './unknown-europe.ts';
import type { UnknownWorld } from './unknown-world.ts';

/** The worlds of `npm run lab -- unknown`, by the name of the experiment in one of them. */
export const UNKNOWN_WORLDS: Readonly<Record<'unknown' | 'unknown-continents', UnknownWorld>> = {
  unknown: EUROPE,
  'unknown-continents': CONTINENTS,
};
