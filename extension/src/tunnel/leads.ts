import type { StorageArea } from '../browser/browser-api.ts';
import type { Left } from '../judge/why-left.ts';
import { remember } from '../remember.ts';
import type { Tunnel } from './plan-tunnel.ts';

export interface StandingTunnel {
  /** `https://host:port` of the server. */
  readonly server: string;
  readonly tunnel: Tunnel;
  /** See `standsUntilMs`. */
  readonly untilMs: number;
}

export interface LeadsDependencies {
  /** Forgets with the browser's end, as tickets should. */
  readonly area: StorageArea;
  /** The tunnels that stand may be others now; resolves when the browser leads nothing otherwise any more. */
  readonly changed?: (standing: readonly StandingTunnel[]) => Promise<void>;
  readonly now: () => number;
  /** Asks that tunnels are told again at this time, though the background may sleep until then. */
  readonly wakeAt?: (timeMs: number) => void;
}

interface Planned {
  /** The master that was asked. */
  readonly master: string;
}

/** A server that is reached through a tunnel. */
export interface TunnelLead extends Planned {
  readonly tunnel: Tunnel;
  /** Whether a request has shown its ticket to the entry depot, which then takes it to its end. */
  readonly isUsed: boolean;
  readonly renewAtMs: number;
}

/** How requests to a server go: through a tunnel, or directly for a while, and why. */
export type Lead = TunnelLead | (Planned & { readonly left: Left; readonly untilMs: number });

const KEY = 'tunnels';
/** Another ticket is asked for so long before one that nobody has shown is over. */
const UNUSED_MS = 180_000;
/**
 * A tunnel stands no longer after another plan was due that nobody has asked for: Chromium's script takes all
 * sites off the proxies of the system.
 */
const IDLE_MS = 30 * 60_000;
/** Servers with a tunnel at once; the oldest is forgotten. */
const MOST_SERVERS = 64;

/** Until when a ticket opens tunnels: a depot where none began by then takes it no more. */
export function goodUntilMs({ tunnel, isUsed }: TunnelLead): number {
  return isUsed ? tunnel.endsAtMs : tunnel.startBeforeMs;
}

/** From when on another plan is asked for, while this one stands. */
export function renewAtMs(lead: TunnelLead): number {
  return lead.isUsed ? lead.renewAtMs : Math.min(lead.renewAtMs, goodUntilMs(lead) - UNUSED_MS);
}

/** Until when a tunnel stands: its ticket opens tunnels, and somebody has asked for it lately. */
export function standsUntilMs(lead: TunnelLead): number {
  return Math.min(goodUntilMs(lead), renewAtMs(lead) + IDLE_MS);
}

/** The leads of all servers, by their canonical addresses. They outlive the background, and not the browser. */
export class Leads {
  readonly #deps: LeadsDependencies;
  readonly #all: Map<string, Lead>;
  /** When the next of those that were told to stand does so no more. */
  #endMs = Number.POSITIVE_INFINITY;

  private constructor(deps: LeadsDependencies, all: Map<string, Lead>) {
    this.#deps = deps;
    this.#all = all;
  }

  static async load(deps: LeadsDependencies): Promise<Leads> {
    const stored = (await deps.area.get(KEY))[KEY] as Record<string, Lead> | undefined;
    return new Leads(deps, new Map(Object.entries(stored ?? {})));
  }

  get(key: string): Lead | undefined {
    return this.#all.get(key);
  }

  keys(): readonly string[] {
    return [...this.#all.keys()];
  }

  /** Puts a lead in the place of a server's older one, as the newest. */
  put(key: string, lead: Lead): void {
    remember(this.#all, key, lead, MOST_SERVERS);
  }

  forget(key: string): void {
    this.#all.delete(key);
  }

  /** Stores the leads, and tells which tunnels stand. */
  async store(): Promise<void> {
    await Promise.all([this.tell(), this.#keep()]);
  }

  /** The ticket of this tunnel has been shown: from now on it is good to its end. */
  async use(key: string, { jobId }: Tunnel): Promise<void> {
    const lead = this.get(key);
    if (!lead || !('tunnel' in lead) || lead.tunnel.jobId !== jobId || lead.isUsed) return;
    this.put(key, { ...lead, isUsed: true });
    await this.#keep();
  }

  async #keep(): Promise<void> {
    await this.#deps.area.set({ [KEY]: Object.fromEntries(this.#all) }).catch(() => undefined);
  }

  /** Nobody knows whether they are good for another network: none stands until it is asked for. */
  rest(): Promise<void> {
    const renewAtMs = this.#deps.now() - IDLE_MS;
    for (const [key, lead] of this.#all) {
      if ('tunnel' in lead) this.#all.set(key, { ...lead, renewAtMs });
      else if (lead.left.why === 'system-proxy') this.#all.delete(key);
    }
    return this.store();
  }

  /** Tells which tunnels stand. */
  async tell(): Promise<void> {
    const { changed, now, wakeAt } = this.#deps;
    const standing = [...this.#all]
      .flatMap(([key, lead]) => ('tunnel' in lead ? standingBy(key, lead) : []))
      .filter(({ untilMs }) => now() < untilMs);
    this.#endMs = Math.min(...standing.map(({ untilMs }) => untilMs));
    wakeAt?.(this.#endMs);
    await changed?.(standing).catch(() => undefined);
  }

  /** The time may have come that was asked for. */
  async look(): Promise<void> {
    const { now, wakeAt } = this.#deps;
    if (now() < this.#endMs) wakeAt?.(this.#endMs);
    else await this.tell();
  }
}

/** @param key the canonical address of the server */
export function standingBy(key: string, lead: TunnelLead): StandingTunnel {
  return { server: key.slice(0, -1), tunnel: lead.tunnel, untilMs: standsUntilMs(lead) };
}
