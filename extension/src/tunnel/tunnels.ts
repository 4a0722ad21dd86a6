import { canonicalOriginUrl, type OriginUrl, originHref, parseOriginUrl } from '@longhaul/shared';
import type { askMaster } from '../ask/ask-master.ts';
import type { StorageArea } from '../browser/browser-api.ts';
import type { Left } from '../judge/why-left.ts';
import type { Settings } from '../settings/settings.ts';
import { isTunnelled } from '../settings/site-rules.ts';
import { planTunnel, serverOf, type Tunnel } from './plan-tunnel.ts';

export interface TunnelDependencies {
  /** Forgets with the browser's end, as tickets should. */
  readonly area: StorageArea;
  /** As for downloads: switched off until the user has consented. */
  readonly settings: () => Promise<Settings>;
  /** Whether the browser lets the add-on set proxies, and the user has set none of his own. */
  readonly mayLead: () => Promise<boolean>;
  readonly askMaster: typeof askMaster;
  readonly greetDepot: (location: string, signal: AbortSignal) => Promise<boolean>;
  readonly deadline: (ms: number) => AbortSignal;
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /**
   * Whether an entry depot may serve one server alone: Chromium keeps one password for each proxy, and gives it again whatever is
   * asked for there.
   */
  readonly isOneServerPerDepot: boolean;
  /** The tunnels that stand are others now. */
  readonly changed?: (standing: readonly StandingTunnel[]) => void;
}

export interface StandingTunnel {
  /** `https://host:port` of the server. */
  readonly server: string;
  readonly tunnel: Tunnel;
}

/** How requests to a server go: through a tunnel, or directly for a while, and why. */
type Lead =
  | { readonly tunnel: Tunnel; readonly isUsed: boolean; readonly renewAtMs: number }
  | { readonly left: Left; readonly untilMs: number };

/** What the popup says of a server. */
export type TunnelView = { readonly chain: readonly string[] } | Left;

const KEY = 'tunnels';
/** For which server the browser has given an entry depot a ticket. */
const GIVEN_KEY = 'ticketsGiven';
/** No request waits longer for a plan, or for a word of the entry depot. */
const HOLD_MS = 2_000;
/** What the master has for its answer; requests do not wait for all of it. */
const PLAN_MS = 3_000;
/** What an entry depot has to show that it is there: it is near. */
const GREETING_MS = 1_500;
/** So long the entry depot counts as alive after it has shown that it is. */
const ALIVE_MS = 5_000;
/** Another plan is asked for by then: networks change. */
const RENEW_MS = 30 * 60_000;
/** A ticket is not used in its last minute: clocks differ. */
const MARGIN_MS = 60_000;
/** After a failure requests go directly for so long, without a question. */
const RETRY_MS = 30_000;
/** After the master has said that direct is best. */
const NO_GAIN_MS = 5 * 60_000;
/** Servers with a tunnel at once; the oldest is forgotten. */
const MOST_SERVERS = 64;
/** So long what the user wants is not asked for again, unless somebody says that it has changed. */
const SETTINGS_MS = 10_000;

/**
 * The tunnels to the sites that the user has chosen, one plan and one ticket for each server. A request never waits for a dead
 * depot or a silent master: it goes directly.
 */
export class Tunnels {
  readonly #deps: TunnelDependencies;
  readonly #leads: Promise<Map<string, Lead>>;
  readonly #asking = new Map<string, Promise<void>>();
  readonly #greeting = new Map<string, Promise<boolean>>();
  /** When the entry depot of a job was last seen alive. */
  readonly #alive = new Map<string, number>();
  #wish: { readonly atMs: number; readonly settings: Promise<Settings | undefined> } | undefined;

  constructor(deps: TunnelDependencies) {
    this.#deps = deps;
    this.#leads = this.#load();
  }

  /** The tunnel that a request to this address takes now; `undefined`: it goes directly. Settles within 2 s. */
  async wayFor(address: string): Promise<Tunnel | undefined> {
    const server = await this.#serverOf(address);
    if (!server) return undefined;
    return Promise.race([this.#wayTo(server), this.#deps.pause(HOLD_MS).then(() => undefined)]);
  }

  /** A request through the tunnel to this address has been answered. */
  async answered(address: string): Promise<void> {
    const lead = await this.#leadTo(address);
    if (lead && 'tunnel' in lead) this.#noteAlive(lead.tunnel);
  }

  /**
   * A request through the tunnel to this address has failed. Where the tunnel is at fault it is given up at once; true then.
   * @param isByProxy whether the browser itself says so
   */
  async failed(address: string, isByProxy: boolean): Promise<boolean> {
    const server = parseServer(address);
    const lead = await this.#leadTo(address);
    if (!server || !lead) return false;
    // It was given up before by another request, which failed as this one did.
    if (!('tunnel' in lead)) return lead.left.why === 'depot-silent';
    this.#alive.delete(lead.tunnel.jobId);
    if (!isByProxy && (await this.#isAlive(lead.tunnel))) return false;
    await this.#giveUp(server, lead.tunnel);
    return true;
  }

  /** How requests to this address go; `undefined` where nobody has asked for a tunnel there, or nothing was asked yet. */
  async viewOf(address: string): Promise<TunnelView | undefined> {
    const server = await this.#serverOf(address);
    const lead = server && (await this.#leads).get(canonicalOriginUrl(server));
    if (!lead) return undefined;
    return 'tunnel' in lead ? { chain: lead.tunnel.chain } : lead.left;
  }

  /** The settings have changed: tunnels that nobody wants any more are given up at once. */
  async look(): Promise<void> {
    this.#wish = undefined;
    const leads = await this.#leads;
    const before = leads.size;
    for (const key of leads.keys()) {
      if (!(await this.#serverOf(key))) leads.delete(key);
    }
    if (leads.size < before) await this.#store();
    else this.#tell(leads);
  }

  async #serverOf(address: string): Promise<OriginUrl | undefined> {
    const server = parseServer(address);
    const set = server && (await this.#settings());
    const master = parseOriginUrl(set?.master ?? '');
    const isWanted = set && master.ok && server.host !== master.value.host && isTunnelled(server, set);
    return isWanted ? server : undefined;
  }

  /** The settings, where they and the browser let there be tunnels at all. */
  #settings(): Promise<Settings | undefined> {
    const { settings, mayLead, now } = this.#deps;
    if (!this.#wish || Math.abs(now() - this.#wish.atMs) > SETTINGS_MS) {
      const asked = settings().then(async (set) => (set.enabled && (await mayLead()) ? set : undefined));
      this.#wish = { atMs: now(), settings: asked };
    }
    return this.#wish.settings;
  }

  async #leadTo(address: string): Promise<Lead | undefined> {
    const server = parseServer(address);
    return server && (await this.#leads).get(canonicalOriginUrl(server));
  }

  async #wayTo(server: OriginUrl): Promise<Tunnel | undefined> {
    const leads = await this.#leads;
    const key = canonicalOriginUrl(server);
    const lead = leads.get(key);
    const nowMs = this.#deps.now();
    if (!lead || ('tunnel' in lead && nowMs >= goodUntilMs(lead))) {
      leads.delete(key);
      await this.#ask(server, []);
    } else if ('left' in lead) {
      if (nowMs >= lead.untilMs) void this.#ask(server, []);
      return undefined;
    } else if (nowMs >= lead.renewAtMs) {
      void this.#ask(server, []);
    }
    const now = leads.get(key);
    if (!now || !('tunnel' in now)) return undefined;
    const { tunnel } = now;
    if (!(await this.#isAlive(tunnel))) {
      await this.#giveUp(server, tunnel);
      return undefined;
    }
    if (!now.isUsed && leads.get(key) === now) {
      leads.set(key, { ...now, isUsed: true });
      await this.#store();
    }
    return tunnel;
  }

  /** Asks the master once for all requests that want to know; a tunnel that stands goes on until there is another. */
  #ask(server: OriginUrl, avoid: readonly string[]): Promise<void> {
    const key = canonicalOriginUrl(server);
    const running = this.#asking.get(key);
    if (running) return running;
    const asking = this.#learn(key, server, avoid).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  async #learn(key: string, server: OriginUrl, avoid: readonly string[]): Promise<void> {
    const leads = await this.#leads;
    const answer = await this.#plan(server, avoid);
    const nowMs = this.#deps.now();
    const before = leads.get(key);
    const isStanding = before && 'tunnel' in before && nowMs < goodUntilMs(before);
    if (!('why' in answer)) {
      put(leads, key, { tunnel: answer, isUsed: false, renewAtMs: nowMs + RENEW_MS });
    } else if (isStanding && answer.why !== 'direct-is-best') {
      put(leads, key, { ...before, renewAtMs: nowMs + RETRY_MS });
    } else {
      const pauseMs = answer.why === 'direct-is-best' ? NO_GAIN_MS : RETRY_MS;
      put(leads, key, { left: answer, untilMs: nowMs + pauseMs });
    }
    await this.#store();
  }

  async #plan(server: OriginUrl, avoid: readonly string[]): Promise<Tunnel | Left> {
    const { settings, askMaster, deadline } = this.#deps;
    const signal = deadline(PLAN_MS);
    const set = await settings();
    const first = await planTunnel(server, set, avoid, askMaster, signal);
    if ('why' in first || (await this.#mayServe(first, server))) return first;
    const other = await planTunnel(server, set, [...avoid, ...first.chain.slice(0, 1)], askMaster, signal);
    return 'why' in other || (await this.#mayServe(other, server)) ? other : { why: 'depot-taken' };
  }

  /** Whether the browser has given this entry depot no ticket for another server; from now on it counts as given. */
  async #mayServe({ proxy }: Tunnel, server: OriginUrl): Promise<boolean> {
    const { isOneServerPerDepot, area } = this.#deps;
    if (!isOneServerPerDepot) return true;
    const [depot, key] = [`${proxy.host}:${proxy.port}`, canonicalOriginUrl(server)];
    const given = ((await area.get(GIVEN_KEY))[GIVEN_KEY] ?? {}) as Readonly<Record<string, string>>;
    if (given[depot] !== undefined) return given[depot] === key;
    await area.set({ [GIVEN_KEY]: { ...given, [depot]: key } });
    return true;
  }

  /** Requests go directly from now on; another plan is asked for at once, without that entry depot. */
  async #giveUp(server: OriginUrl, tunnel: Tunnel): Promise<void> {
    const leads = await this.#leads;
    const key = canonicalOriginUrl(server);
    const lead = leads.get(key);
    if (!lead || !('tunnel' in lead) || lead.tunnel.jobId !== tunnel.jobId) return;
    put(leads, key, { left: { why: 'depot-silent' }, untilMs: this.#deps.now() + RETRY_MS });
    void this.#ask(server, tunnel.chain.slice(0, 1));
    await this.#store();
  }

  /** Whether the entry depot is there, as it has shown within the last seconds, or shows now. */
  async #isAlive(tunnel: Tunnel): Promise<boolean> {
    const { greetDepot, deadline, now } = this.#deps;
    const { jobId, proxy } = tunnel;
    if (now() - (this.#alive.get(jobId) ?? Number.NEGATIVE_INFINITY) < ALIVE_MS) return true;
    const location = originHref({ scheme: 'https', ...proxy, path: '/', query: null });
    const running = this.#greeting.get(jobId);
    const greeting =
      running ?? greetDepot(location, deadline(GREETING_MS)).finally(() => this.#greeting.delete(jobId));
    this.#greeting.set(jobId, greeting);
    const isThere = await greeting;
    if (isThere) this.#noteAlive(tunnel);
    return isThere;
  }

  #noteAlive({ jobId }: Tunnel): void {
    this.#alive.delete(jobId);
    this.#alive.set(jobId, this.#deps.now());
    for (const oldest of this.#alive.keys()) {
      if (this.#alive.size <= MOST_SERVERS) return;
      this.#alive.delete(oldest);
    }
  }

  async #load(): Promise<Map<string, Lead>> {
    const stored = (await this.#deps.area.get(KEY))[KEY] as Record<string, Lead> | undefined;
    return new Map(Object.entries(stored ?? {}));
  }

  async #store(): Promise<void> {
    const leads = await this.#leads;
    this.#tell(leads);
    await this.#deps.area.set({ [KEY]: Object.fromEntries(leads) }).catch(() => undefined);
  }

  #tell(leads: ReadonlyMap<string, Lead>): void {
    const standing = [...leads].flatMap(([key, lead]) =>
      'tunnel' in lead ? [{ server: key.slice(0, -1), tunnel: lead.tunnel }] : [],
    );
    this.#deps.changed?.(standing);
  }
}

function parseServer(address: string): OriginUrl | undefined {
  const url = parseOriginUrl(address.split('#', 1)[0] ?? '');
  return url.ok && url.value.scheme === 'https' ? serverOf(url.value) : undefined;
}

/** Until when a ticket opens tunnels: a depot where none began by then takes it no more. */
function goodUntilMs({ tunnel, isUsed }: Extract<Lead, { tunnel: Tunnel }>): number {
  return (isUsed ? tunnel.endsAtMs : tunnel.startBeforeMs) - MARGIN_MS;
}

/** Puts a lead at the end of the map, and forgets the oldest of too many. */
function put(leads: Map<string, Lead>, key: string, lead: Lead): void {
  leads.delete(key);
  leads.set(key, lead);
  for (const oldest of leads.keys()) {
    if (leads.size <= MOST_SERVERS) return;
    leads.delete(oldest);
  }
}
