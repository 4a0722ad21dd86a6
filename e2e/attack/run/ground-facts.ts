import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Attack } from '../attack.ts';
import type { GroundFacts } from '../attacker/ground.ts';
import type { World } from '../world/start-world.ts';

/** What decides about everything that is left to chance. */
export interface Chance {
  /** Of the whole run. */
  readonly seed: number;
  /** Where among the cases of a property one was found that is to be seen again. */
  readonly path?: string | undefined;
}

/** What the attacker of a strike is told of its world. */
export function groundFacts(world: World, attack: Attack, chance: Chance, seconds: number): GroundFacts {
  const { network, overlay, overlayFolder, placeOf, name } = world;
  const { addressOf } = network;
  const placeOfUrl = (url: string) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) });
  const depot = (id: string) => placeOfUrl(overlay.depot(id).url);
  return {
    seed: seedOf(chance.seed, attack.name, name),
    runSeed: chance.seed,
    ...(chance.path === undefined ? {} : { path: chance.path }),
    seconds,
    isTls: name === 'tls',
    targets: {
      master: placeOfUrl(overlay.master.url),
      d1: depot('d1'),
      d2: depot('d2'),
      d3: depot('d3'),
    },
    own: {
      client: addressOf('attacker'),
      neighbour: placeOf('neighbour'),
      origin: placeOf('origin'),
      metered: placeOf('metered'),
      liar: placeOf('liar'),
      misled: placeOf('misled'),
    },
    inner: addressOf('inner'),
    web: addressOf('web'),
    secretFile: join(overlayFolder, 'master', 'enrolment-secret'),
    folder: network.folder,
  };
}

/** Each attack has chances of its own, so that it does the same alone as among others. */
function seedOf(runSeed: number, attack: string, world: string): number {
  return createHash('sha256').update(`${runSeed} ${attack} ${world}`).digest().readInt32BE(0);
}
