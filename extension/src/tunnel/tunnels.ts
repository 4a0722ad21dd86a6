import { canonicalOriginUrl, type OriginUrl } from '@longhaul/shared';
import type { askMaster } from '../ask/ask-master.ts';
import { isChromium } from '../browser/target.ts';
import type { Left } from '../judge/why-left.ts';
import { parseUrl } from '../parse-url.ts';
import type { Settings } from '../settings/settings.ts';
import { EntryAlive, type EntryAliveDependencies } from './entry-alive.ts';
import { GivenTickets } from './given-tickets.ts';
import { type Answer, isChosen, isWanted } from './is-wanted.ts';
import {
  goodUntilMs,
  type Lead,
  Leads,
  type LeadsDependencies,
  renewAtMs,
  type StandingTunnel,
  standingBy,
  standsUntilMs,
  type TunnelLead,
} from './leads.ts';
import { planTunnel, serverOf, type Tunnel } from './plan-tunnel.ts';
import type { Introduction } from './proxies.ts';

export interface TunnelDependencies extends EntryAliveDependencies, LeadsDependencies {
  /** As for downloads: switched off until the user has consented. */
  readonly settings: () => Promise<Settings>;
  /** Whether the browser lets the add-on set proxies, and the user has set none of his own. */
  readonly mayLead: () => Promise<boolean>;
  /** Whether others would lose a proxy that they need as soon as a tunnel stands. */
  readonly takesProxies: () => Promise<boolean>;
  readonly askMaster: typeof askMaster;
  readonly pause: (ms: number) => Promise<void>;
  /**
   * Whether an entry depot may serve one server alone: Chromium keeps one password for each proxy, and gives
   * it again whatever is asked for there.
   */
  readonly isOneServerPerDepot: boolean;
  /** Has the browser know a tunnel before anything is led there. */
  readonly introduce: (tunnel: StandingTunnel) => Promise<Introduction>;
}

/** A plan that is on its way. */
interface Asking {
  readonly over: Promise<void>;
  /** Entry depots that the plan must not have, by their ids: those that were given up meanwhile, too. */
  readonly avoid: Set<string>;
}

/** What the popup says of a server. */
export type TunnelView = { readonly chain: readonly string[] } | Left;

/** No request waits longer for a plan, or for a word of the entry depot. */
const HOLD_MS = 2_000;
/** What the master has for its answer; requests do not wait for all of it. */
const PLAN_MS = 3_000;
/** Questions for one plan: entry depots may be taken in Chromium. */
const MOST_QUESTIONS = 2;
/** Another plan is asked for by then: networks change. */
const RENEW_MS = 30 * 60_000;
/** After a failure requests go directly for so long, without a question. */
const RETRY_MS = 30_000;
/** After the master has said that direct is best, or where others need a proxy. */
const NO_GAIN_MS = 5 * 60_000;
/** So long what the user wants is not asked for again, unless somebody says that it has changed. */
const SETTINGS_MS = 10_000;

/**
 * The tunnels to the sites that the user has chosen, one plan and one ticket for each server. A request never
 * waits for a dead depot or a silent master: it goes directly.
 */
export class Tunnels {
  readonly #deps: TunnelDependencies;
  readonly #leads: Promise<Leads>;
  readonly #entry: EntryAlive;
  readonly #given: GivenTickets;
  readonly #asking = new Map<string, Asking>();
  #wish: { readonly atMs: number; readonly settings: Promise<Settings | undefined> } | undefined;

  constructor(deps: TunnelDependencies) {
    this.#deps = deps;
    this.#leads = Leads.load(deps);
    this.#entry = new EntryAlive(deps);
    this.#given = new GivenTickets(deps.area);
  }

  /** The tunnel that a request to this address takes now; `undefined`: it goes directly. Settles within 2 s. */
  async wayFor(address: string): Promise<Tunnel | undefined> {
    // Its script leads, and asks nobody.
    if (isChromium) return undefined;
    const server = await this.#serverOf(address);
    if (!server) return undefined;
    const held = this.#deps.pause(HOLD_MS).then(() => undefined);
    const tunnel = await Promise.race([this.#wayTo(server), held]);
    if (tunnel) await (await this.#leads).use(canonicalOriginUrl(server), tunnel);
    return tunnel;
  }

  /**
   * Sees that a tunnel stands for requests to this address, where the browser waits for no way. Settles when
   * it does, or cannot.
   */
  async prepare(address: string): Promise<void> {
    const server = await this.#serverOf(address);
    if (server) await this.#wayTo(server);
  }

  /** The ticket that is good at this entry depot for a request to this address; `undefined` where there is none. */
  async ticketFor(address: string, { host, port }: Tunnel['proxy']): Promise<string | undefined> {
    const [leads, server] = [await this.#leads, parseServer(address)];
    if (!server) return undefined;
    const lead = leads.get(canonicalOriginUrl(server));
    if (!lead || !('tunnel' in lead) || this.#deps.now() >= goodUntilMs(lead)) return undefined;
    const { tunnel } = lead;
    if (tunnel.proxy.host !== host || tunnel.proxy.port !== port) return undefined;
    await leads.use(canonicalOriginUrl(server), tunnel);
    return tunnel.ticket;
  }

  /** A request to this address has been answered through a proxy, or directly after one that was not there. */
  async answered(address: string, { host, port }: Partial<Tunnel['proxy']>): Promise<void> {
    // It tells of no proxy.
    if (isChromium) return;
    const lead = await this.#leadTo(address);
    if (!lead || !('tunnel' in lead)) return;
    const { proxy } = lead.tunnel;
    if (proxy.host === host && proxy.port === port) this.#entry.note(lead.tunnel);
  }

  /**
   * A request through the tunnel to this address has failed. Where the tunnel is at fault it is given up at
   * once; true then.
   * @param isByProxy whether the browser itself says so
   */
  async failed(address: string, isByProxy: boolean): Promise<boolean> {
    const server = parseServer(address);
    const lead = await this.#leadTo(address);
    if (!server) return false;
    // A proxy script outlives the background, and the browser, until it is looked at; or the browser has yet
    // to hear of a tunnel's end.
    if (isByProxy && !(lead && 'tunnel' in lead)) await (await this.#leads).tell();
    if (!lead) return isByProxy && (await this.#serverOf(address)) !== undefined;
    // It was given up before by another request, which failed as this one did.
    if (!('tunnel' in lead)) return isByProxy || lead.left.why === 'depot-silent';
    this.#entry.doubt(lead.tunnel);
    if (!isByProxy && (await this.#entry.isAlive(lead.tunnel))) return false;
    await this.#giveUp(server, lead.tunnel);
    return true;
  }

  /** How requests to this address go; `undefined` where nobody has asked for a tunnel there, or not lately. */
  async viewOf(address: string): Promise<TunnelView | undefined> {
    const server = await this.#serverOf(address);
    const lead = server && (await this.#leads).get(canonicalOriginUrl(server));
    if (!lead || this.#rests(lead)) return undefined;
    return 'tunnel' in lead ? { chain: lead.tunnel.chain } : lead.left;
  }

  /** The settings have changed: tunnels that nobody wants any more are given up at once. */
  async look(): Promise<void> {
    this.#wish = undefined;
    // What was decided by the settings of before is put until these are read, and looked at here.
    const [leads, set] = [await this.#leads, await this.#settings()];
    const before = leads.keys();
    for (const key of before) {
      const [server, lead] = [parseServer(key), leads.get(key)];
      if (!set || !server || !lead || !isWanted(server, answerOf(lead), set)) leads.forget(key);
    }
    if (leads.keys().length < before.length) await leads.store();
    else await leads.tell();
  }

  /** The time may have come that was asked for: what is over, or idle, stands no more. */
  async wake(): Promise<void> {
    await (await this.#leads).look();
  }

  /** The network is another one, maybe. */
  async rest(): Promise<void> {
    await (await this.#leads).rest();
  }

  async #serverOf(address: string): Promise<OriginUrl | undefined> {
    const server = parseServer(address);
    const set = server && (await this.#settings());
    return set && isChosen(server, set) ? server : undefined;
  }

  /** The settings, where they and the browser let there be tunnels at all. */
  async #settings(): Promise<Settings | undefined> {
    const { settings, mayLead, now } = this.#deps;
    if (!this.#wish || Math.abs(now() - this.#wish.atMs) > SETTINGS_MS) {
      const asked = settings().then(async (set) => (set.enabled && (await mayLead()) ? set : undefined));
      this.#wish = { atMs: now(), settings: asked };
    }
    const wish = this.#wish;
    const set = await wish.settings;
    // They may have changed while they were read.
    return wish === this.#wish ? set : this.#settings();
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
      leads.forget(key);
      await this.#ask(server, []);
    } else if ('left' in lead) {
      if (nowMs >= lead.untilMs) void this.#ask(server, []);
      return undefined;
    } else if (nowMs >= renewAtMs(lead)) {
      const asked = this.#ask(server, []);
      if (this.#rests(lead)) await asked;
    }
    const now = leads.get(key);
    if (!now || !('tunnel' in now)) return undefined;
    const { tunnel } = now;
    if (!(await this.#entry.isAlive(tunnel))) {
      await this.#giveUp(server, tunnel);
      return undefined;
    }
    // The user may have taken it back meanwhile.
    const still = leads.get(key);
    return still && 'tunnel' in still ? tunnel : undefined;
  }

  /** Asks the master once for all requests that want to know; a tunnel that stands goes on until there is another. */
  #ask(server: OriginUrl, avoid: readonly string[]): Promise<void> {
    const key = canonicalOriginUrl(server);
    const running = this.#asking.get(key);
    if (running) {
      for (const depot of avoid) running.avoid.add(depot);
      return running.over;
    }
    const avoided = new Set(avoid);
    const over = this.#learn(key, server, avoided).finally(() => this.#asking.delete(key));
    this.#asking.set(key, { over, avoid: avoided });
    return over;
  }

  /** Puts what the master says; nothing where nobody wants to know any more. */
  async #learn(key: string, server: OriginUrl, avoid: Set<string>): Promise<void> {
    const { askMaster, deadline, now, takesProxies } = this.#deps;
    const [leads, set] = [await this.#leads, await this.#settings()];
    if (!set || !isChosen(server, set)) return;
    const { master } = set;
    const put = (lead: Lead): Promise<void> => {
      leads.put(key, lead);
      return leads.store();
    };
    let why: Left['why'] = 'depot-silent';
    for (let question = 0; question < MOST_QUESTIONS; question += 1) {
      const way = await planTunnel(server, set, [...avoid], askMaster, deadline(PLAN_MS), now);
      if (!(await this.#isWanted(server, { master, way }))) return;
      if ('why' in way) return put(this.#leadWithout(way, master, leads.get(key)));
      if (await takesProxies()) {
        const way = { why: 'system-proxy' } as const;
        if (!(await this.#isWanted(server, { master, way }))) return;
        return put(this.#leadWithout(way, master, leads.get(key)));
      }
      const [entry = ''] = way.chain;
      const mayServe = await this.#mayServe(way, server);
      if (!mayServe) why = 'depot-taken';
      // A request that met the depot meanwhile may have given it up.
      if (mayServe && !avoid.has(entry)) {
        const lead = await this.#leadBy(way, master, key, leads.get(key));
        if (!(await this.#isWanted(server, { master, way }))) return;
        if (lead && !avoid.has(entry)) return put(lead);
      }
      avoid.add(entry);
    }
    return put(this.#leadWithout({ why }, master, leads.get(key)));
  }

  /** A tunnel that stands goes on where nothing says that direct is better, or that it would harm others. */
  #leadWithout(left: Left, master: string, before: Lead | undefined): Lead {
    const nowMs = this.#deps.now();
    const isToEnd = left.why === 'direct-is-best' || left.why === 'system-proxy';
    if (this.#stands(before) && !isToEnd) return { ...before, renewAtMs: nowMs + RETRY_MS };
    return { master, left, untilMs: nowMs + (isToEnd ? NO_GAIN_MS : RETRY_MS) };
  }

  /**
   * Leads by this tunnel, or still by the one before where the browser shows that one's ticket; `undefined`
   * where the depot takes none.
   */
  async #leadBy(
    tunnel: Tunnel,
    master: string,
    key: string,
    before: Lead | undefined,
  ): Promise<TunnelLead | undefined> {
    const renewalMs = this.#deps.now() + RENEW_MS;
    if (this.#stands(before) && before.isUsed && this.#showsSame(before.tunnel, tunnel))
      return { ...before, renewAtMs: renewalMs };
    const lead = { master, tunnel, isUsed: false, renewAtMs: renewalMs };
    const introduction = await this.#introduce(standingBy(key, lead));
    return introduction === 'failed' ? undefined : { ...lead, isUsed: introduction === 'begun' };
  }

  async #introduce(standing: StandingTunnel): Promise<Introduction> {
    const { server, tunnel } = standing;
    if (await this.#given.gives(tunnel)) return 'begun';
    const introduction = await this.#deps.introduce(standing);
    if (introduction === 'begun') await this.#given.note(tunnel, `${server}/`);
    return introduction;
  }

  #stands(lead: Lead | undefined): lead is TunnelLead {
    return lead !== undefined && 'tunnel' in lead && this.#deps.now() < goodUntilMs(lead);
  }

  /**
   * Whether the browser leads nothing by this until somebody asks: Chromium, which knows the tunnels that it
   * was told.
   */
  #rests(lead: Lead): boolean {
    const { isOneServerPerDepot, now } = this.#deps;
    return isOneServerPerDepot && 'tunnel' in lead && now() >= standsUntilMs(lead);
  }

  /**
   * Whether the browser would show the ticket of the one tunnel although the other one stands: Chromium does
   * while depots take it.
   */
  #showsSame({ proxy }: Tunnel, other: Tunnel): boolean {
    const isSameEntry = proxy.host === other.proxy.host && proxy.port === other.proxy.port;
    return this.#deps.isOneServerPerDepot && isSameEntry;
  }

  async #isWanted(server: OriginUrl, answer: Answer): Promise<boolean> {
    const set = await this.#settings();
    return set !== undefined && isWanted(server, answer, set);
  }

  async #mayServe(tunnel: Tunnel, server: OriginUrl): Promise<boolean> {
    return !this.#deps.isOneServerPerDepot || this.#given.mayServe(tunnel, canonicalOriginUrl(server));
  }

  /** Requests go directly from now on; another plan is asked for at once, without that entry depot. */
  async #giveUp(server: OriginUrl, tunnel: Tunnel): Promise<void> {
    const leads = await this.#leads;
    const key = canonicalOriginUrl(server);
    const lead = leads.get(key);
    if (!lead || !('tunnel' in lead) || lead.tunnel.jobId !== tunnel.jobId) return;
    const untilMs = this.#deps.now() + RETRY_MS;
    leads.put(key, { master: lead.master, left: { why: 'depot-silent' }, untilMs });
    void this.#ask(server, tunnel.chain.slice(0, 1));
    await leads.store();
  }
}

function answerOf(lead: Lead): Answer {
  return { master: lead.master, way: 'tunnel' in lead ? lead.tunnel : lead.left };
}

function parseServer(address: string): OriginUrl | undefined {
  const url = parseUrl(address);
  return url?.scheme === 'https' ? serverOf(url) : undefined;
}
