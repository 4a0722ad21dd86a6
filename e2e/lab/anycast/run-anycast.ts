import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MIB } from '@longhaul/shared';
import type { LineFile } from '../results/result-file.ts';
import { ANSWER_MS } from '../sites/asker.ts';
import { EXAMPLE_BFD_MS } from '../sites/bird.ts';
import { type AnycastEvent, type AnycastLine, EVENT_NAMES } from './anycast-line.ts';
import { isRunning } from './anycast-site.ts';
import { type AnycastStage, startAnycastStage } from './anycast-stage.ts';

/** Between two questions of the client. */
const PROBE_MS = 10;
/** A route that has come back rests before the next event; the state after it is looked at as long. */
const SETTLE_MS = 2_000;
const SWITCH_WITHIN_MS = 30_000;
/** A client on a busy machine tells of an end so much later. */
const LATE_MS = 1_000;
const BACK_WITHIN_MS = 120_000;
/** More than enough to keep one process busy all the time. */
const LOAD_CONNECTIONS = '64';

export interface AnycastPlan {
  readonly repeats: number;
  readonly loadMinutes: number;
}

interface AnycastRun {
  readonly plan: AnycastPlan;
  readonly file: LineFile<AnycastLine>;
  readonly say: (text: string) => void;
}

/** Lets each event happen to the nearest site so many times, then loads it; a line for each. */
export async function runAnycast({ plan, file, say }: AnycastRun): Promise<void> {
  const stage = await startAnycastStage({ sizesBytes: [MIB], probeEveryMs: PROBE_MS, bfdMs: EXAMPLE_BFD_MS });
  try {
    for (let repeat = 1; repeat <= plan.repeats; repeat += 1) {
      for (const event of EVENT_NAMES) {
        const line = await happen(stage, event, repeat);
        file.append(line);
        say(`${repeat}/${plan.repeats} ${event}: ${line.switchMs} ms, back after ${line.backMs} ms`);
      }
    }
    if (plan.loadMinutes === 0) return;
    const line = await load(stage, plan.loadMinutes * 60);
    file.append(line);
    say(
      `load: ${Math.round(line.redirects / line.seconds)} redirects/s, ${line.withdrawals.length} withdrawals`,
    );
  } finally {
    stage.prober.stop();
    await stage.close();
  }
}

async function happen(
  stage: AnycastStage,
  event: AnycastEvent,
  repeat: number,
): Promise<Extract<AnycastLine, { kind: 'event' }>> {
  const { prober, sites } = stage;
  await prober.answerOf('rj', Date.now(), BACK_WITHIN_MS);
  await delay(SETTLE_MS);
  const asked = prober.probes.length;
  const atMs = Date.now();
  const { pid } = sites.rj.master();
  if (event === 'silence') stage.silence('rj');
  else process.kill(pid, event === 'death' ? 'SIGKILL' : 'SIGTERM');
  const next = await prober.answerOf('pe', atMs, SWITCH_WITHIN_MS);
  await delay(SETTLE_MS);
  if (event === 'drain') while (isRunning(pid)) await delay(100);
  const endedAtMs = Date.now();
  if (event === 'silence') stage.heal('rj');
  else await sites.rj.restartMaster();
  const back = await prober.answerOf('rj', endedAtMs, BACK_WITHIN_MS);
  // What was asked until then has come to an end by now, well or not.
  await delay(Math.max(0, endedAtMs + ANSWER_MS + LATE_MS - Date.now()));
  const failed = prober.probes
    .slice(asked)
    .filter(({ failure, startedAtMs }) => failure !== undefined && startedAtMs < endedAtMs);
  return {
    kind: 'event',
    event,
    repeat,
    switchMs: next.endedAtMs - atMs,
    failedAfter: failed.filter(({ startedAtMs }) => startedAtMs >= atMs).length,
    failedBefore: failed.filter(({ startedAtMs }) => startedAtMs < atMs).length,
    backMs: back.endedAtMs - endedAtMs,
  };
}

async function load(stage: AnycastStage, seconds: number): Promise<Extract<AnycastLine, { kind: 'load' }>> {
  const { network, prober, certificates } = stage;
  await prober.answerOf('rj', Date.now(), BACK_WITHIN_MS);
  await delay(SETTLE_MS);
  const withdrawn = withdrawals(network.folder).length;
  const asked = prober.probes.length;
  const program = join(import.meta.dirname, 'load-main.ts');
  const options = ['--url', stage.urlOf(MIB), '--ca', certificates.caFile, '--connections', LOAD_CONNECTIONS];
  const command = [process.execPath, program, ...options];
  const child = stage.atClient(command, ['ignore', 'ignore', 'inherit', 'ipc']);
  let redirects = 0;
  child.on('message', (count) => {
    redirects = Number(count);
  });
  await delay(seconds * 1000);
  child.kill();
  const probes = prober.probes.slice(asked);
  return {
    kind: 'load',
    seconds,
    redirects,
    withdrawals: withdrawals(network.folder).slice(withdrawn),
    answeredElsewhere: probes.filter(({ site }) => site !== undefined && site !== 'rj').length,
    failed: probes.filter(({ failure }) => failure !== undefined).length,
  };
}

/**
 * What the master of the nearest site had answered each time that the address was withdrawn so far, by that
 * site's own log.
 */
function withdrawals(folder: string): string[] {
  const log = readFileSync(join(folder, 'rj', 'routing.log'), 'utf8');
  return [...log.matchAll(/"word":"withdraw","answer":"([a-z]+)"/g)].map(([, answer = '']) => answer);
}
