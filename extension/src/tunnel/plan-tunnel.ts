import { type OriginUrl, originHref, type PlanRequest } from '@longhaul/shared';
import { type askMaster, leftByMaster } from '../ask/ask-master.ts';
import { isLeftPrivate } from '../judge/private-host.ts';
import type { Left } from '../judge/why-left.ts';
import { whyUnfitTunnel } from '../judge/why-unfit.ts';
import { parseUrl } from '../parse-url.ts';
import type { Settings } from '../settings/settings.ts';

/** A way to one server over depots, which see nothing of what passes but its size. */
export interface Tunnel {
  readonly jobId: string;
  /** Ids of its depots, the entry depot first. */
  readonly chain: readonly string[];
  /** The entry depot, which the browser uses as proxy over TLS. */
  readonly proxy: { readonly host: string; readonly port: number };
  /** What the entry depot asks for, good for this one server. */
  readonly ticket: string;
  /**
   * A first connection begins before; further ones, where there was one, until the end. Both by the clock of
   * this machine, and a margin before the ticket's own.
   */
  readonly startBeforeMs: number;
  readonly endsAtMs: number;
}

/** A ticket is not used in its last minute, or half of less time than two: clocks of depots differ. */
const MARGIN_MS = 60_000;

/** Where a tunnel leads: the server of an address, without its path, which nobody else learns. */
export function serverOf(url: OriginUrl): OriginUrl {
  return { ...url, path: '/', query: null };
}

/** Asks the master for a tunnel to a server; gives it, or why there is none. Never rejects. */
export async function planTunnel(
  server: OriginUrl,
  settings: Settings,
  avoid: readonly string[],
  ask: typeof askMaster,
  signal: AbortSignal,
  now: () => number,
): Promise<Tunnel | Left> {
  if (isLeftPrivate(server, settings.privateHosts)) return { why: 'private-host' };
  const order: PlanRequest = {
    url: originHref(server),
    kind: 'tunnel',
    ...(avoid.length > 0 ? { avoid: [...avoid] } : {}),
  };
  const reply = await ask(settings.master, order, signal);
  if (reply.result !== 'plan') return leftByMaster(reply);
  const { plan } = reply;
  const unfit = whyUnfitTunnel(plan, server, settings);
  const proxy = parseUrl(plan.location);
  // The clocks of users are wrong by more than tickets live: what counts is the time left when the master
  // answered, by the clock that its tickets go by. That is the overlay's, and its `Date` may be another.
  const answeredAtMs = Date.parse(plan.answeredAt ?? '') || now();
  const useBeforeMs = (time: string): number => {
    const leftMs = Date.parse(time) - answeredAtMs;
    return now() + leftMs - Math.min(MARGIN_MS, leftMs / 2);
  };
  const startBeforeMs = useBeforeMs(plan.startBefore);
  if (unfit) return { why: unfit };
  if (!proxy || !plan.ticket || Number.isNaN(startBeforeMs)) return { why: 'plan-unfit' };
  return {
    jobId: plan.jobId,
    chain: plan.chain,
    proxy: { host: proxy.host, port: proxy.port },
    ticket: plan.ticket,
    startBeforeMs,
    // A master of before tells no end.
    endsAtMs: useBeforeMs(plan.ticketEnds ?? plan.startBefore) || startBeforeMs,
  };
}
