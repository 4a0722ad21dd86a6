import type { World } from '../world/start-world.ts';
import type { Service } from './service-look.ts';

/** What a service counts itself. */
export interface Counters {
  /** By code. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Transfers and tunnels that run, and those that wait for the next depot; 0 for a master. */
  readonly active: number;
  /** Transfers, tunnels and handovers that have ended. */
  readonly served: number;
}

const SERVED = new Set(['transfers_total', 'tunnels_total', 'handovers_total']);

/** Reads a service's metrics; `undefined` when it does not answer. */
export async function readCounters(
  { overlay, eyes }: World,
  service: Service,
): Promise<Counters | undefined> {
  const { url } = service === 'master' ? overlay.master : overlay.depot(service);
  const page = await eyes.read(`${url}/metrics`).catch(() => undefined);
  return page === undefined ? undefined : parseCounters(page);
}

export function parseCounters(page: string): Counters {
  const refusals: Record<string, number> = {};
  let active = 0;
  let served = 0;
  for (const line of page.split('\n')) {
    const [, name = '', labels = '', value] =
      /^longhaul_(?:depot|master)_([a-z_]+)(?:\{([^}]*)\})? ([0-9.e+]+)$/.exec(line) ?? [];
    const code = /^code="([a-z-]+)"$/.exec(labels)?.[1];
    if (name === 'refusals_total' && code !== undefined) refusals[code] = Number(value);
    if (name === 'active' || name === 'waiting') active += Number(value);
    if (SERVED.has(name)) served += Number(value);
  }
  return { refusals, active, served };
}

/** How often each code was counted between two readings; a service that was started anew began at 0. */
export function refusalsBetween(
  before: Counters | undefined,
  after: Counters | undefined,
): Readonly<Record<string, number>> {
  const grown = Object.entries(after?.refusals ?? {}).map(([code, count]) => {
    const earlier = before?.refusals[code] ?? 0;
    return [code, count >= earlier ? count - earlier : count] as const;
  });
  return Object.fromEntries(grown.filter(([, count]) => count > 0));
}
