import { setTimeout as delay } from 'node:timers/promises';
import { type ClientSpawn, type Question, startAsker } from '../sites/asker.ts';

/** Between two looks at what has been answered. */
const LOOK_MS = 20;

/** One question of the client, and what came of it. */
export interface Probe extends Pick<Question, 'startedAtMs' | 'endedAtMs' | 'failure'> {
  /** Whose master has answered. */
  readonly site?: string;
}

export interface Prober {
  readonly probes: readonly Probe[];
  /** The first answer of that site to a question that was asked at this time or later. Rejects when none comes. */
  readonly answerOf: (site: string, sinceMs: number, withinMs: number) => Promise<Probe>;
  readonly stop: () => void;
}

/** Has the client ask the masters' one address all the time. */
export function startProber(atClient: ClientSpawn, url: string, caFile: string, everyMs: number): Prober {
  const probes: Probe[] = [];
  const asking = { url: `${url}/v1/status`, caFile, everyMs };
  const { stop } = startAsker(atClient, asking, ({ answer, ...question }) => {
    const site = answer && (JSON.parse(answer.text) as { note: string }).note;
    probes.push({ ...question, ...(site === undefined ? {} : { site }) });
  });
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
    stop,
  };
}

/** The last answers, for people. */
function summary(probes: readonly Probe[]): string {
  return probes
    .slice(-10)
    .map(({ site, failure }) => site ?? failure)
    .join(', ');
}
