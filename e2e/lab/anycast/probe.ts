import type { ChildProcess, StdioOptions } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Starts a program at the client. */
export type ClientSpawn = (command: readonly string[], stdio: StdioOptions) => ChildProcess;

/** Whoever has not answered a question by then is not going to. */
export const ANSWER_MS = 5_000;
/** Between two looks at what has been answered. */
const LOOK_MS = 20;

/** One question of the client, and what came of it. Times are Unix milliseconds. */
export interface Probe {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Whose master has answered. */
  readonly site?: string;
  readonly failure?: string;
}

export interface Prober {
  readonly probes: readonly Probe[];
  /** The first answer of that site to a question that was asked at this time or later. Rejects when none comes. */
  readonly answerOf: (site: string, sinceMs: number, withinMs: number) => Promise<Probe>;
  readonly stop: () => void;
}

/** Has the client ask the masters' one address all the time. */
export function startProber(atClient: ClientSpawn, url: string, caFile: string, everyMs: number): Prober {
  const program = join(import.meta.dirname, 'probe-main.ts');
  const options = ['--url', `${url}/v1/status`, '--ca', caFile, '--every', String(everyMs)];
  const child = atClient([process.execPath, program, ...options], ['ignore', 'ignore', 'inherit', 'ipc']);
  const probes: Probe[] = [];
  child.on('message', (probe) => probes.push(probe as Probe));
  return {
    probes,
    answerOf: async (site, sinceMs, withinMs) => {
      for (;;) {
        const found = probes.find((probe) => probe.site === site && probe.startedAtMs >= sinceMs);
        if (found) return found;
        if (Date.now() > sinceMs + withinMs) throw new Error(`${site} did not answer: ${summary(probes)}`);
        await delay(LOOK_MS);
      }
    },
    stop: () => void child.kill(),
  };
}

/** The last answers, for people. */
function summary(probes: readonly Probe[]): string {
  return probes
    .slice(-10)
    .map(({ site, failure }) => site ?? failure)
    .join(', ');
}
