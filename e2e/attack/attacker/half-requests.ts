import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ground, Target } from './ground.ts';
import { pace } from './pace.ts';

/** Connections of one network at a service, none of which has brought a request: more than any bound lets through. */
const MOST_HELD = 600;
/**
 * Who is still there after so long is held: what a busy machine lets this process, or the service, read late
 * is not.
 */
const HELD_FOR_MS = 500;

interface HalfRequests {
  readonly connections: number;
  readonly perSecond: number;
  /** In turn. */
  readonly targets: readonly Target[];
  readonly tls?: boolean;
  readonly beginning: string | Buffer;
  /** Sent now and then, so that no timeout of silence ends it. */
  readonly drip: Buffer;
  readonly dripMs: number;
}

/**
 * Opens connections and begins something over each that never ends. Breaks a promise when too many are held
 * at once.
 */
export async function beginHalfRequests(ground: Ground, wanted: HalfRequests): Promise<void> {
  const { signal, tally } = ground;
  const { connections, perSecond, targets, tls, beginning, drip, dripMs } = wanted;
  const held = new Map<Target, Set<Socket>>(targets.map((target) => [target, new Set()]));
  let most = 0;
  const begin = async (target: Target) => {
    const socket = await ground.open(target, tls === undefined ? {} : { tls });
    tally.answer(socket.destroyed ? 'not taken' : 'taken');
    if (socket.destroyed) return;
    const those = held.get(target) ?? new Set();
    those.add(socket);
    socket.once('close', () => {
      those.delete(socket);
      tally.answer('cut off');
    });
    // It would stay half open: what the service has closed is not held.
    socket.once('end', () => socket.destroy());
    socket.resume().write(beginning);
  };
  const dripOn = async () => {
    while (!signal.aborted) {
      await delay(dripMs - HELD_FOR_MS, undefined, { signal }).catch(() => undefined);
      const there = [...held.values()].map((those) => [...those]);
      for (const socket of there.flat()) socket.write(drip);
      await delay(HELD_FOR_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const stayed = there.map((those) => those.filter((socket) => !socket.destroyed).length);
      most = Math.max(most, ...stayed);
    }
  };
  let begun = 0;
  await Promise.all([
    dripOn(),
    pace(perSecond, signal, () => {
      if (begun >= connections) return;
      begun += 1;
      tally.case();
      void begin(targets[begun % targets.length] ?? 'd1');
    }),
  ]);
  if (most > MOST_HELD) tally.broke('one network holds few connections without a request', `${most} at once`);
}
