import { setTimeout as delay } from 'node:timers/promises';
import type { LogTail } from '../hosts/log-tail.ts';
import type { LegLine } from '../results/transfer-line.ts';

/** What a depot's log says of one leg; what it leaves out the kernel did not tell. */
interface LoggedLeg extends Omit<LegLine, 'at' | 'to'> {
  readonly legClass: 'client' | 'depot' | 'origin';
  readonly depot?: string;
}

/** Events of depots' logs that tell of legs. */
const TELLING: ReadonlySet<unknown> = new Set(['transfer', 'tunnel']);

/** Between two looks into the logs, and the longest wait for a depot that has not told yet. */
const LOOK_MS = 150;
const PATIENCE_MS = 2000;

/**
 * The legs of a transfer, each as the depot at its sending end saw it, and the origin's as the last depot
 * did: read from the logs until every depot of `chain` has told and none says more, for tunnels end a little
 * after the client has its last byte. Legs of several tunnels of one job to the same neighbour are added up.
 */
export async function legsOfJob(
  logs: ReadonlyMap<string, LogTail>,
  { jobId, chain = [] }: { readonly jobId?: string; readonly chain?: readonly string[] },
): Promise<LegLine[]> {
  const legs = new Map<string, LegLine>();
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    await delay(LOOK_MS);
    const isQuiet = !takeNew(logs, jobId, legs);
    const told = new Set([...legs.values()].map(({ at }) => at));
    if ((isQuiet && chain.every((depot) => told.has(depot))) || performance.now() > deadlineMs) break;
  }
  return [...legs.values()].filter(({ to, sentBytes, receivedBytes }) => {
    return to === 'client' || to === 'origin' || sentBytes > receivedBytes;
  });
}

/** Adds what the logs have of a job since the last look; whether that was anything. */
function takeNew(
  logs: ReadonlyMap<string, LogTail>,
  jobId: string | undefined,
  legs: Map<string, LegLine>,
): boolean {
  let isAny = false;
  for (const [at, log] of logs)
    for (const event of log.newLines()) {
      if (!TELLING.has(event.msg) || event.jobId !== jobId) continue;
      isAny = true;
      for (const leg of (event.legs ?? []) as readonly LoggedLeg[]) {
        const line = legLine(at, leg);
        const key = `${at} ${line.to}`;
        const before = legs.get(key);
        legs.set(key, before ? together(before, line) : line);
      }
    }
  return isAny;
}

function legLine(at: string, { legClass, depot, limitedMs, ...told }: LoggedLeg): LegLine {
  const rounded = (value: number) => Math.round(value * 100) / 100;
  const { minRttMs, rttMs, deliveryRateBps, ...counts } = told;
  return {
    at,
    to: depot ?? legClass,
    ...counts,
    ...(minRttMs === undefined ? {} : { minRttMs: rounded(minRttMs) }),
    ...(rttMs === undefined ? {} : { rttMs: rounded(rttMs) }),
    ...(deliveryRateBps === undefined ? {} : { deliveryRateBps: Math.round(deliveryRateBps) }),
    limitedMs: Object.fromEntries(
      Object.entries(limitedMs).flatMap(([name, ms]) => (ms < 0.5 ? [] : [[name, Math.round(ms)]])),
    ),
  };
}

function together(one: LegLine, other: LegLine): LegLine {
  const limits = [...new Set([...Object.keys(one.limitedMs), ...Object.keys(other.limitedMs)])];
  const least = Math.min(one.minRttMs ?? Infinity, other.minRttMs ?? Infinity);
  const most = Math.max(one.deliveryRateBps ?? 0, other.deliveryRateBps ?? 0);
  return {
    ...one,
    ...other,
    connections: one.connections + other.connections,
    sentBytes: one.sentBytes + other.sentBytes,
    retransmittedBytes: one.retransmittedBytes + other.retransmittedBytes,
    receivedBytes: one.receivedBytes + other.receivedBytes,
    limitedMs: Object.fromEntries(
      limits.map((name) => [name, (one.limitedMs[name] ?? 0) + (other.limitedMs[name] ?? 0)]),
    ),
    ...(Number.isFinite(least) ? { minRttMs: least } : {}),
    ...(most > 0 ? { deliveryRateBps: most } : {}),
  };
}
