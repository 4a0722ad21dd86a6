import type { Chain, OriginUrl, Signalling, TicketKind } from '@longhaul/shared';

interface SignallingQuestion {
  readonly wanted: Signalling | undefined;
  readonly kind: TicketKind;
  readonly url: OriginUrl;
  /** Entry depot first; empty for direct. */
  readonly chain: Chain;
}

interface SignallingChoice {
  readonly ticketKind: TicketKind;
  /** The depot that the client is sent to; `undefined` for direct. */
  readonly firstDepot: string | undefined;
  readonly reasons: readonly string[];
}

/** Decides how a client is led to its entry depot: stepwise where that is asked for and possible, else by cascade. */
export function chooseSignalling({ wanted, kind, url, chain }: SignallingQuestion): SignallingChoice {
  const cascade = (...reasons: string[]) => ({ ticketKind: kind, firstDepot: chain[0], reasons });
  if (wanted !== 'stepwise' || kind !== 'get') return cascade();
  if (chain.length === 0) return cascade('Stepwise signalling needs depots: this download goes direct.');
  if (url.scheme !== 'http')
    return cascade('Stepwise signalling is for http origins: this download is led by cascade.');
  const way = chain.toReversed();
  return {
    ticketKind: 'stepwise',
    firstDepot: way[0],
    reasons: [`Stepwise signalling, as the request says: the client is led by ${way.join(', then ')}.`],
  };
}
