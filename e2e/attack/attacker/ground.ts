import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  formatGetPath,
  type GetOptions,
  HEADERS,
  type OriginUrl,
  originHref,
  type PlanAnswer,
  parseOriginUrl,
  planAnswerSchema,
} from '@longhaul/shared';
import { seededRandom } from '../../lab/results/seeded-random.ts';
import { Line } from './line.ts';
import { type ConnectionOptions, openConnection, type Place } from './open-connection.ts';
import { Tally } from './tally.ts';

/** Who can be attacked. */
export type Target = 'master' | 'd1' | 'd2' | 'd3';

/** What an attacker is told of the world before it strikes. */
export interface GroundFacts {
  readonly seed: number;
  /** The seed of the whole run, from which `seed` is made; and where in the cases of a property one was found. */
  readonly runSeed: number;
  readonly path?: string;
  /** How long the strike lasts. */
  readonly seconds: number;
  readonly isTls: boolean;
  readonly targets: Readonly<Record<Target, Place>>;
  /** Addresses of the attacker's own: clients, origins, a depot. */
  readonly own: Readonly<Record<'client' | 'neighbour' | 'origin' | 'metered' | 'liar' | 'misled', string>>;
  /** Addresses that nobody may be led to, and that of the honest origin. */
  readonly inner: string;
  readonly web: string;
  /** The enrolment secret, for depots that are members and lie. */
  readonly secretFile: string;
  /** For keys and state that outlive a strike. */
  readonly folder: string;
}

/** A download's address at its first depot. */
export interface Ticketed {
  readonly url: OriginUrl;
  readonly place: Place;
  /** The request target, with the ticket. */
  readonly target: string;
  readonly ticket: string;
}

interface Asked {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
}

/** Where an attacker stands, what it knows, and what it can do to everybody. */
export class Ground {
  readonly facts: GroundFacts;
  /** Aborts when the strike is over. */
  readonly signal: AbortSignal;
  readonly tally = new Tally();
  readonly line = new Line();
  readonly random: () => number;
  #names = 0;

  constructor(facts: GroundFacts, signal: AbortSignal) {
    this.facts = facts;
    this.signal = signal;
    this.random = seededRandom(facts.seed);
  }

  /** Opens a connection to a service, or to any place; `destroyed` when it is not taken. */
  open(target: Target | Place, options: Partial<ConnectionOptions> = {}): Promise<Socket> {
    const { targets, own, isTls } = this.facts;
    const place = typeof target === 'string' ? targets[target] : target;
    return openConnection(place, { from: own.client, tls: isTls, ...options });
  }

  /** A path that nobody has asked for before, of a file of the honest origin. */
  path(sizeBytes: number): string {
    this.#names += 1;
    return `/${sizeBytes}/asked-${this.facts.seed}-${this.#names}.bin`;
  }

  /** Asks the master for a download, as every client may. `undefined` where it is refused; what it was is counted. */
  async plan(
    href: string,
    options: GetOptions = {},
    from = this.facts.own.client,
  ): Promise<Ticketed | undefined> {
    const parsed = parseOriginUrl(href);
    if (!parsed.ok) throw parsed.error;
    const url = parsed.value;
    const answer = await this.#askOrBeCut('GET', formatGetPath(url, options), { from });
    answer?.resume();
    const { location } = answer?.headers ?? {};
    if (answer?.statusCode !== 307 || location === undefined) return this.#noPlan(answer);
    const { hostname, port, pathname, search } = new URL(location);
    if (!search.startsWith('?ey')) return undefined;
    this.tally.planned(originHref(url));
    const target = location.slice(location.indexOf(pathname, location.indexOf(hostname) + hostname.length));
    const ticket = search.slice(1).split('&', 1)[0] ?? '';
    return { url, place: { host: hostname, port: Number(port) }, target, ticket };
  }

  /** Asks the master for a tunnel to the origin of a URL. */
  async planTunnel(href: string, options: object = {}): Promise<PlanAnswer | undefined> {
    const answer = await this.#askOrBeCut('POST', '/v1/plans', {
      body: JSON.stringify({ url: href, kind: 'tunnel', ...options }),
      headers: { 'Content-Type': 'application/json' },
    });
    const content = answer && (await text(answer));
    if (answer?.statusCode !== 200) return this.#noPlan(answer);
    return planAnswerSchema.parse(JSON.parse(content ?? ''));
  }

  #askOrBeCut(method: string, path: string, asked: Asked): Promise<IncomingMessage | undefined> {
    return this.ask('master', method, path, asked).catch(() => undefined);
  }

  #noPlan(answer: IncomingMessage | undefined): undefined {
    this.tally.answer(`master: ${String(answer?.headers[HEADERS.error] ?? answer?.statusCode ?? 'cut off')}`);
  }

  /** Asks a service as a well-behaved client does, over a connection of its own. Rejects when it cannot be asked. */
  ask(target: Target, method: string, path: string, asked: Asked = {}): Promise<IncomingMessage> {
    const { targets, own, isTls } = this.facts;
    const { body, headers = {}, from = own.client } = asked;
    const request = isTls ? requestHttps : requestHttp;
    const where = { ...targets[target], method, path, agent: false, localAddress: from };
    return new Promise((resolve, reject) => {
      request({ ...where, headers, rejectUnauthorized: false }, resolve)
        .once('error', reject)
        .end(body);
    });
  }

  /** The same, for the status alone. */
  async send(target: Target, method: string, path: string, asked: Asked = {}): Promise<number> {
    const answer = await this.ask(target, method, path, asked);
    answer.resume();
    return answer.statusCode ?? 0;
  }
}

/** A request for a download, with what else its head has. */
export function requestFor({ target }: Pick<Ticketed, 'target'>, headers: readonly string[] = []): string {
  return [`GET ${target} HTTP/1.1`, 'Host: depot', ...headers, '', ''].join('\r\n');
}
