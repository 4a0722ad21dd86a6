import type { StorageArea } from '../browser/browser-api.ts';
import type { Left } from '../judge/why-left.ts';
import { remember } from '../remember.ts';
import type { Tunnel } from './plan-tunnel.ts';

export interface StandingTunnel {
  /** `https://host:port` of the server. */
  readonly server: string;
  readonly tunnel: Tunnel;
}

interface Planned {
  /** The master that was asked. */
  readonly master: string;
}

/** A server that is reached through a tunnel. */
export interface TunnelLead extends Planned {
  readonly tunnel: Tunnel;
  /** Whether its ticket has been shown to the entry depot. */
  readonly isUsed: boolean;
  readonly renewAtMs: number;
}

/** How requests to a server go: through a tunnel, or directly for a while, and why. */
export type Lead = TunnelLead | (Planned & { readonly left: Left; readonly untilMs: number });

const KEY = 'tunnels';
/** A ticket is not used in its last minute: clocks differ. */
const MARGIN_MS = 60_000;
/** Servers with a tunnel at once; the oldest is forgotten. */
const MOST_SERVERS = 64;

/** Until when a ticket opens tunnels: a depot where none began by then takes it no more. */
export function goodUntilMs({ tunnel, isUsed }: TunnelLead): number {
  return (isUsed ? tunnel.endsAtMs : tunnel.startBeforeMs) - MARGIN_MS;
}

/** The leads of all servers, by their canonical addresses. They outlive the background, and not the browser. */
export class Leads {
  readonly #area: StorageArea;
  readonly #all: Map<string, Lead>;
  readonly #changed: (standing: readonly StandingTunnel[]) => void;

  private constructor(
    area: StorageArea,
    all: Map<string, Lead>,
    changed: (standing: readonly StandingTunnel[]) => void,
  ) {
    this.#area = area;
    this.#all = all;
    this.#changed = changed;
  }

  /** @param changed told of the tunnels that stand, whenever they may be others. */
  static async load(
    area: StorageArea,
    changed: (standing: readonly StandingTunnel[]) => void = () => undefined,
  ): Promise<Leads> {
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
    this.tell();
    await this.#keep();
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
  tell(): void {
    const standing = [...this.#all].flatMap(([key, lead]) =>
      'tunnel' in lead ? [{ server: key.slice(0, -1), tunnel: lead.tunnel }] : [],
    );
    this.#changed(standing);
  }
}
