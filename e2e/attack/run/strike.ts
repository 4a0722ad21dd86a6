import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import type { Bystander, Witness } from '../bystander/bystander.ts';
import { refusalsBetween } from '../watch/counters.ts';
import type { LogReader } from '../watch/log-reader.ts';
import { SERVICES, type Service } from '../watch/service-look.ts';
import { startHelper } from '../world/start-helper.ts';
import type { World } from '../world/start-world.ts';
import type { CalmTimes } from './calm-times.ts';
import { type Chance, groundFacts } from './ground-facts.ts';
import type { AttackerEnd, Observation, ServiceWatch } from './observation.ts';
import { type Standings, settle, standingsOf } from './settle.ts';
import { type Looks, StrikeWatch } from './strike-watch.ts';

const ATTACKER_PROGRAM = join(import.meta.dirname, '..', 'attacker-main.ts');
const LOOK_MS = 200;
/** An attacker that has not ended by then, with its last words, is killed. */
const END_MS = 20_000;
/** What the overlay itself asks an origin where a depot is said to be. */
const CHALLENGE = '/.well-known/longhaul-depot?challenge=';
/** What bystander and neighbour ask for. */
const OWN_FILE = /\/(?:bystander|neighbour)-[0-9]+\.bin$/;

/** How long things last. */
export interface Pacing {
  readonly strikeSeconds: number;
  /** Downloads that the bystander ends in a strike at least; for them it lasts longer, up to three times. */
  readonly leastDownloads: number;
  /** Downloads between two strikes. */
  readonly calmDownloads: number;
  /** Strikes, as long as nothing but a time is missed. */
  readonly tries: number;
}

/** A world with those who are watched in it. */
export interface Scene {
  readonly world: World;
  readonly bystander: Bystander;
  readonly neighbour: Bystander;
  readonly logs: Readonly<Record<Service, LogReader>>;
  /** Of the bystander; there has been one, at least. */
  readonly calm: CalmTimes;
}

/** Strikes once, and tells all that was seen: before, during, after. */
export async function strike(
  scene: Scene,
  attack: Attack,
  chance: Chance,
  pacing: Pacing,
): Promise<Observation> {
  const { world, bystander, neighbour, logs, calm } = scene;
  const before = await standingsOf(world);
  for (const log of Object.values(logs)) log.take();
  await world.takeAsked();
  const visitsBefore = world.visits.length;

  const watch = new StrikeWatch(world, looksOf(before));
  const beganMs = performance.now();
  const attacker = await attackFor(world, attack, chance, pacing, bystander);
  const endedMs = performance.now();
  // The download that the strike has met last shows what it did as well.
  while ((bystander.runningSinceMs() ?? Number.POSITIVE_INFINITY) < endedMs) await bystander.next();
  const { peaks, down } = await watch.stop();
  const after = await settle(world, before);
  await calm.rest(bystander, pacing.calmDownloads);

  const isStruck = (download: Witness) => download.endedMs > beganMs && download.beganMs < endedMs;
  const named = new Set(attacker.planned);
  const isStranger = (url: string) => !named.has(url) && !OWN_FILE.test(url) && !url.includes(CHALLENGE);
  return {
    seconds: (endedMs - beganMs) / 1000,
    attacker,
    calm: calm.downloadsOf(bystander),
    struck: bystander.downloads.filter(isStruck),
    neighbourCalm: calm.downloadsOf(neighbour),
    neighbourStruck: neighbour.downloads.filter(isStruck),
    services: watchedServices(scene, before, peaks, after),
    down,
    visits: world.visits.slice(visitsBefore),
    strangers: (await world.takeAsked()).filter(isStranger),
  };
}

/** Runs an attacker for the time of a strike; gives its report. */
async function attackFor(
  world: World,
  attack: Attack,
  chance: Chance,
  pacing: Pacing,
  bystander: Bystander,
): Promise<AttackerEnd> {
  const facts = groundFacts(world, attack, chance, pacing.strikeSeconds);
  const line = [ATTACKER_PROGRAM, attack.name, JSON.stringify(facts)] as const;
  const child = await startHelper(world.network, 'attacker', 'attacker', line);
  const exited = once(child, 'exit');
  const report = new Promise<AttackerEnd | undefined>((resolve) => {
    child.once('message', ({ report: told }: { readonly report: AttackerEnd }) => resolve(told));
    void exited.then(() => resolve(undefined));
  });
  child.send('strike');
  await strikeTime(bystander, pacing);
  if (child.connected) child.send('stop');
  const killing = setTimeout(() => child.kill('SIGKILL'), END_MS);
  const told = await report;
  await exited;
  clearTimeout(killing);
  return (
    told ?? {
      cases: 0,
      answers: {},
      broken: [],
      planned: [],
      cpuSeconds: 0,
      failure: 'it ended without a word',
    }
  );
}

/** Lasts as long as it is to, and until the bystander has ended enough downloads. */
async function strikeTime(bystander: Bystander, pacing: Pacing): Promise<void> {
  const beganMs = performance.now();
  await delay(pacing.strikeSeconds * 1000);
  const ended = () => bystander.downloads.filter(({ endedMs }) => endedMs > beganMs).length;
  const lastMs = beganMs + pacing.strikeSeconds * 3000;
  while (ended() < pacing.leastDownloads && performance.now() < lastMs) await delay(LOOK_MS);
}

function looksOf(standings: Standings): Looks {
  return Object.fromEntries(
    SERVICES.map((service) => {
      const { look } = standings[service];
      if (!look) throw new Error(`${service} does not run`);
      return [service, look];
    }),
  ) as unknown as Looks;
}

function watchedServices(
  { logs }: Scene,
  before: Standings,
  peaks: Looks,
  after: Standings,
): Record<Service, ServiceWatch> {
  const looks = looksOf(before);
  return Object.fromEntries(
    SERVICES.map((service): [Service, ServiceWatch] => {
      const { look, heldBytes, counters } = after[service];
      const { heldBytes: heldBefore, counters: earlier } = before[service];
      const { lines: logLines, leaks } = logs[service].take();
      return [
        service,
        {
          before: looks[service],
          peak: peaks[service],
          after: look ?? looks[service],
          heldBytes: { before: heldBefore, after: heldBytes },
          hasDied: look === undefined,
          logLines,
          served: (counters?.served ?? 0) - (earlier?.served ?? 0),
          leaks,
          refusals: refusalsBetween(earlier, counters),
          activeGrowth: counters && counters.active - (earlier?.active ?? 0),
        },
      ];
    }),
  ) as Record<Service, ServiceWatch>;
}
