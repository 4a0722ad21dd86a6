import { setTimeout as delay } from 'node:timers/promises';
import { type ClientSpawn, type Question, startAsker } from '../sites/asker.ts';

/** Between two looks at a master's view, and at what has been answered. */
const ASK_MS = 50;
const LOOK_MS = 20;

/** What one master knows of the depots, as it tells everybody. */
export interface View {
  /** When each depot that it counts on was heard last, as far as this master knows: Unix milliseconds. */
  readonly heardAtMs: () => ReadonlyMap<string, number>;
  readonly stop: () => void;
}

export function watchView(atClient: ClientSpawn, masterUrl: string): View {
  let newest: ReadonlyMap<string, number> = new Map();
  let newestMs = 0;
  const { stop } = startAsker(atClient, { url: `${masterUrl}/v1/status`, everyMs: ASK_MS }, (question) => {
    // Answers may overtake each other.
    if (question.startedAtMs < newestMs) return;
    newestMs = question.startedAtMs;
    newest = heardIn(question);
  });
  return { heardAtMs: () => newest, stop };
}

function heardIn({ startedAtMs, answer }: Question): ReadonlyMap<string, number> {
  if (answer?.status !== 200) return new Map();
  const { depots } = JSON.parse(answer.text) as {
    depots: readonly { id: string; state: string; heardAgoMs?: number }[];
  };
  return new Map(
    depots.flatMap(({ id, state, heardAgoMs }) =>
      state === 'up' && heardAgoMs !== undefined ? [[id, startedAtMs - heardAgoMs] as const] : [],
    ),
  );
}

/**
 * How long after a moment all of these views are right: each knows of a heartbeat of each of these depots
 * after that moment, and of none in the future, and counts on it. `null` where they are not within
 * `withinMs`.
 */
export async function untilRight(
  views: readonly View[],
  depots: readonly string[],
  sinceMs: number,
  withinMs: number,
): Promise<number | null> {
  const isRight = (view: View): boolean => {
    const heard = view.heardAtMs();
    return depots.every((id) => {
      const atMs = heard.get(id) ?? 0;
      return atMs >= sinceMs && atMs <= Date.now() + ASK_MS;
    });
  };
  for (;;) {
    if (views.every(isRight)) return Date.now() - sinceMs;
    if (Date.now() > sinceMs + withinMs) return null;
    await delay(LOOK_MS);
  }
}
