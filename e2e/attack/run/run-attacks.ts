import type { Attack } from '../attack.ts';
import { IDLE_ATTACKER } from '../attacks/idle-attacker.ts';
import type { Witness } from '../bystander/bystander.ts';
import { SERVICES } from '../watch/service-look.ts';
import { startWorld } from '../world/start-world.ts';
import type { AttackLine } from './attack-line.ts';
import type { Chance } from './ground-facts.ts';
import { judge, type Verdict } from './judge.ts';
import { mendWorld } from './mend-world.ts';
import type { Observation } from './observation.ts';
import { openScene } from './open-scene.ts';
import type { AttackPlan } from './plan-attacks.ts';
import { standingsOf } from './settle.ts';
import { type Pacing, type Scene, strike } from './strike.ts';

export interface AttackEvents {
  readonly onPhase: (text: string) => void;
  readonly onLine: (line: AttackLine) => void;
  readonly isDone: (attack: string, world: string) => boolean;
  readonly interrupted: AbortSignal;
}

/** Brings up one world after the other, and tries in each what is to be tried there. */
export async function runAttacks(plan: AttackPlan, chance: Chance, events: AttackEvents): Promise<void> {
  for (const { world: name, attacks } of plan.worlds) {
    const open = attacks.filter((attack) => !events.isDone(attack.name, name));
    if (open.length === 0) continue;
    events.onPhase(`starting the world '${name}'`);
    const world = await startWorld(name, chance.seed);
    try {
      const scene = await openScene(world);
      await scene.calm.rest(scene.bystander, plan.pacing.calmDownloads);
      for (const attack of open) {
        if (events.interrupted.aborted) return;
        events.onLine(lineOf(await tryAttack(scene, attack, chance, plan.pacing, events)));
      }
    } finally {
      await world.close();
    }
  }
}

interface Tried extends Verdict {
  readonly attack: Attack;
  readonly scene: Scene;
  readonly seed: number;
  readonly repeats: number;
  readonly seen: Observation;
  /** Whether the control, tried next, was on time: if not, the machine is late for everybody. */
  readonly isMachineCalm: boolean;
}

/**
 * Strikes; again, where nothing but a time was missed, or the attack got nothing done, which then has longer.
 * A machine with other work stalls now and then, so the times of all strikes are judged together, and count
 * against the attack if the control is on time.
 */
async function tryAttack(
  scene: Scene,
  attack: Attack,
  chance: Chance,
  pacing: Pacing,
  { onPhase }: AttackEvents,
): Promise<Tried> {
  let struck: readonly Witness[] = [];
  let { strikeSeconds } = pacing;
  for (let repeats = 0; ; repeats += 1) {
    const before = await standingsOf(scene.world);
    const now = await strike(scene, attack, chance, { ...pacing, strikeSeconds });
    struck = [...struck, ...now.struck];
    const seen = { ...now, struck };
    const verdict = judge(attack, seen);
    const started = await mendWorld(scene.world, before);
    if (started.length > 0) onPhase(`started anew: ${started.join(', ')}`);
    const isLate = verdict.late.length + verdict.down.length > 0;
    const isToRepeat = verdict.failures.length === 0 && (isLate || verdict.undone.length > 0);
    const tried = { ...verdict, attack, scene, seed: chance.seed, repeats, seen };
    const isLast = repeats + 1 === pacing.tries;
    if (!isToRepeat || (isLast && !isLate)) return { ...tried, isMachineCalm: true };
    if (isLast) {
      const control = judge(IDLE_ATTACKER, await strike(scene, IDLE_ATTACKER, chance, pacing));
      return { ...tried, isMachineCalm: control.late.length + control.down.length === 0 };
    }
    if (verdict.undone.length > 0) strikeSeconds += pacing.strikeSeconds;
    onPhase(`${attack.name}: ${[...verdict.undone, ...verdict.late, ...verdict.down].join('; ')}: once more`);
  }
}

function lineOf({
  attack,
  scene,
  seed,
  repeats,
  seen,
  failures,
  undone,
  late,
  down,
  isMachineCalm,
  ...shares
}: Tried): AttackLine {
  const { attacker, neighbourStruck, services } = seen;
  const refusals: Record<string, number> = {};
  for (const watch of Object.values(services))
    for (const [code, count] of Object.entries(watch.refusals))
      refusals[code] = (refusals[code] ?? 0) + count;
  const refused: Record<string, number> = {};
  for (const { outcome, why = '' } of neighbourStruck)
    if (outcome !== 'whole') refused[why] = (refused[why] ?? 0) + 1;
  return {
    attack: attack.name,
    world: scene.world.name,
    seed,
    seconds: Number(seen.seconds.toFixed(1)),
    repeats,
    cases: attacker.cases,
    answers: { ...attacker.answers },
    attackerCpuSeconds: Number(attacker.cpuSeconds.toFixed(2)),
    refusals,
    bystander: shares.bystander,
    neighbour: { ...shares.neighbour, refused },
    services: Object.fromEntries(
      SERVICES.map((service) => {
        const { before, peak, after, heldBytes, logLines } = services[service];
        return [service, { before, peak, after, heldBytes, logLines }];
      }),
    ),
    failures: [...failures, ...undone, ...(isMachineCalm ? [...late, ...down] : [])],
    notJudged: isMachineCalm ? [] : [...late, ...down],
  };
}
