import type { ErrorCode } from '@longhaul/shared';
import type { Ground } from './attacker/ground.ts';
import type { WorldName } from './world/start-world.ts';

/** One way to do harm, and what holds all the same. */
export interface Attack {
  readonly name: string;
  /** What the attacker does, with its numbers; for people. */
  readonly does: string;
  /** What holds beside the promises to all, which `run/bounds.ts` has. */
  readonly promise: string;
  /** Where it matters; and where `npm test` runs it, for a shorter time. */
  readonly worlds: readonly WorldName[];
  readonly quick: readonly WorldName[];
  /** Codes of bounds that the attack meets: one of them, at least, must show in the counters of the services. */
  readonly meets?: readonly ErrorCode[];
  /** Strikes until the ground's signal. Runs in a process of its own, at the lowest priority. */
  readonly strike: (ground: Ground) => Promise<void>;
}
