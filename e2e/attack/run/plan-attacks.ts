import { LabRefusal } from '../../lab/refusal.ts';
import type { Attack } from '../attack.ts';
import { WORLDS, type WorldName } from '../world/start-world.ts';
import type { Pacing } from './strike.ts';

/** What `npm run test:attack` is asked for. */
export interface AttackOptions {
  /** As `npm test` does: what can be told in minutes. */
  readonly quick: boolean;
  readonly only?: readonly string[];
  readonly worlds?: readonly string[];
}

/** The strikes of one world, in their order. */
export interface WorldPlan {
  readonly world: WorldName;
  readonly attacks: readonly Attack[];
}

export interface AttackPlan {
  readonly worlds: readonly WorldPlan[];
  readonly pacing: Pacing;
}

const FULL: Pacing = { strikeSeconds: 10, leastDownloads: 12, calmDownloads: 5, tries: 2 };
const QUICK: Pacing = { strikeSeconds: 2, leastDownloads: 3, calmDownloads: 2, tries: 3 };

/**
 * Chooses what is tried where. An attack that is named runs in all its worlds. Throws `lab-input-invalid`
 * that lists every name that is none.
 */
export function planAttacks(attacks: readonly Attack[], options: AttackOptions): AttackPlan {
  const { quick, only, worlds: wanted } = options;
  const mistakes = [
    ...unknown(
      'attack',
      only,
      attacks.map(({ name }) => name),
    ),
    ...unknown('world', wanted, WORLDS),
  ];
  if (mistakes.length > 0) throw new LabRefusal('lab-input-invalid', `${mistakes.join('; ')}.`);
  const worldsOf = (attack: Attack) => (quick && !only ? attack.quick : attack.worlds);
  const worlds = WORLDS.filter((world) => wanted?.includes(world) ?? true).flatMap((world): WorldPlan[] => {
    const chosen = attacks.filter(
      (attack) => worldsOf(attack).includes(world) && (only?.includes(attack.name) ?? true),
    );
    return chosen.length === 0 ? [] : [{ world, attacks: chosen }];
  });
  return { worlds, pacing: quick ? QUICK : FULL };
}

function unknown(what: string, names: readonly string[] = [], known: readonly string[]): string[] {
  return names
    .filter((name) => !known.includes(name))
    .map((name) => `There is no ${what} '${name}': choose from ${known.join(', ')}`);
}
