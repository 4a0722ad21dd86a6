import type { StorageArea } from '../browser/browser-api.ts';
import type { Left } from '../judge/why-left.ts';
import { remember } from '../remember.ts';
import type { Tunnel } from './plan-tunnel.ts';

export interface StandingTunnel {
  /** `https://host:port` of the server. */
  readonly server: string;
  readonly tunnel: Tunnel;
  /** Until then its ticket opens tunnels. */
  readonly untilMs: number;
}

/** Told which tunnels stand; resolves when the browser leads nothing otherwise any more. */
export type NoteStanding = (standing: readonly StandingTunnel[]) => Promise<void>;

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
/** A ticket is not used in its last minute: clocks differ. */
const MARGIN_MS = 60_000;
/** Another ticket is asked for so long before one that nobody has shown is over. */
const UNUSED_MS = 180_000;
/** Servers with a tunnel at once; the oldest is forgotten. */
const MOST_SERVERS = 64;

/** Until when a ticket opens tunnels: a depot where none began by then takes it no more. */
export function goodUntilMs({ tunnel, isUsed }: TunnelLead): number {
  return (isUsed ? tunnel.endsAtMs : tunnel.startBeforeMs) - MARGIN_MS;
}

/** From when on another plan is asked for, while this one stands. */
export function renewAtMs(lead: TunnelLead): number {
  return lead.isUsed ? lead.renewAtMs : Math.min(lead.renewAtMs, goodUntilMs(lead) - UNUSED_MS);
}

/** The leads of all servers, by their canonical addresses. They outlive the background, and not the browser. */
export class Leads {
  readonly #area: StorageArea;
  readonly #all: Map<string, Lead>;
  readonly #changed: NoteStanding;

  private constructor(area: StorageArea, all: Map<string, Lead>, changed: NoteStanding) {
    this.#area = area;
    this.#all = all;
    this.#changed = changed;
  }

  /** @param changed told of the tunnels that stand, whenever they may be others. */
  static async load(area: StorageArea, changed: NoteStanding = async () => undefined): Promise<Leads> {
    const stored = (await area.get(KEY))[KEY] as Record<string, Lead> | undefined;
    return new Leads(area, new Map(Object.entries(stored ?? {})), changed);
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
    await this.#area.set({ [KEY]: Object.fromEntries(this.#all) }).catch(() => undefined);
  }

  /** Tells which tunnels stand. */
  async tell(): Promise<void> {
    const standing = [...this.#all].flatMap(([key, lead]) =>
      'tunnel' in lead ? [standingBy(key, lead)] : [],
    );
    await this.#changed(standing).catch(() => undefined);
  }
}

/** @param key the canonical address of the server */
export function standingBy(key: string, lead: TunnelLead): StandingTunnel {
  return { server: key.slice(0, -1), tunnel: lead.tunnel, untilMs: goodUntilMs(lead) };
}
