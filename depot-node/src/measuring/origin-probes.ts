import type { Socket } from 'node:net';
import { clientPrefix, type OriginProbe, type OriginReport } from '@longhaul/shared';
import type { DataPlane } from '../plane/data-plane.ts';
import type { Dial } from '../sockets/dial.ts';

/** Probes in an hour, whatever the master asks for: each of them knocks at somebody's door. */
const MOST_AN_HOUR = 600;
const HOUR_MS = 3_600_000;
/** No origin is probed again earlier. */
const SAME_ORIGIN_MS = 600_000;
/** Origins of which is remembered when they were probed: those of an hour. */
const MOST_REMEMBERED = MOST_AN_HOUR;

interface OriginProbesComponents {
  readonly plane: Pick<DataPlane, 'watch' | 'steadyMs' | 'shutdown' | 'observe'>;
  readonly dial: Dial;
  readonly noteOrigin: (report: OriginReport) => void;
  /** Tells the master now. */
  readonly report: () => void;
}

/**
 * Measures how far an origin is that downloads ask for and no depot knows, when the master says so: opens a
 * connection and closes it. It is dialled as for a download, with the guard on the address that is really
 * connected; nothing is asked of the origin.
 */
export class OriginProbes {
  readonly #components: OriginProbesComponents;
  readonly #probedAtMs = new Map<string, number>();

  constructor(components: OriginProbesComponents) {
    this.#components = components;
  }

  /** Probes an origin; `false` where that may not be now, or it cannot be reached. Never rejects. */
  async run({ host, port }: OriginProbe): Promise<boolean> {
    const { plane, dial, noteOrigin, report } = this.#components;
    if (!this.#mayProbe(host, plane.steadyMs())) return false;
    const dialled = await dial({ purpose: 'origin', host, port }, plane.shutdown).catch(() => undefined);
    plane.observe({ type: 'origin-probed', isReached: dialled !== undefined });
    if (!dialled) return false;
    const { socket } = dialled;
    const network = networkOf(socket);
    const { measure } = plane.watch(socket, { legClass: 'origin' }).stop();
    socket.on('error', () => {});
    socket.destroy();
    const rttMs = measure?.minRttMs ?? dialled.rttMs;
    noteOrigin({ host, rttMs, ...(network === undefined ? {} : { prefix: network }) });
    report();
    return true;
  }

  #mayProbe(host: string, nowMs: number): boolean {
    for (const [probed, atMs] of this.#probedAtMs) {
      if (nowMs - atMs >= HOUR_MS) this.#probedAtMs.delete(probed);
    }
    const before = this.#probedAtMs.get(host);
    if (before !== undefined && nowMs - before < SAME_ORIGIN_MS) return false;
    if (this.#probedAtMs.size >= MOST_REMEMBERED) return false;
    this.#probedAtMs.set(host, nowMs);
    return true;
  }
}

function networkOf({ remoteAddress }: Socket): string | undefined {
  return remoteAddress === undefined ? undefined : clientPrefix(remoteAddress);
}
