import type { CongestionControl, LegEstimate } from '@longhaul/shared';
import { Hashed } from './hashed.ts';

export interface WorldSize {
  readonly depots: number;
  /** Networks of clients: /24 and /48. */
  readonly prefixes: number;
  readonly origins: number;
  readonly shape?: WorldShape;
}

/** Where depots and origins stand. */
export interface WorldShape {
  /**
   * Of a hundred origins so many are content networks, with servers in the largest cities: everybody meets
   * the nearest one.
   */
  readonly contentPercent: number;
  /**
   * Of a hundred origins so many stand in the city of the client network of their number: the more popular
   * both are, the more often they meet.
   */
  readonly localPercent: number;
  /** Depots stand in so many cities. */
  readonly depotCities: number;
}

/** Somebody in the drawn internet. Clients stand for their prefix. */
export interface End {
  readonly kind: 'client' | 'depot' | 'origin';
  /** From 0 on, among those of its kind. */
  readonly number: number;
  readonly system: number;
  readonly latitude: number;
  readonly longitude: number;
  /** From the end to where its network meets others, there and back. */
  readonly accessRttMs: number;
  readonly accessLossRate: number;
  readonly accessRateBps: number;
  /** What it offers as window, or keeps unsent, for one connection. */
  readonly windowBytes: number;
  readonly sender: CongestionControl;
  /** What it gives to one connection; undefined where it does not hold back. */
  readonly connectionBps: number | undefined;
  /** Its servers stand in many cities, whatever its own place. */
  readonly isContentNetwork?: boolean;
}

const CITIES = 150;
/** Every origin in one place, that and all else anywhere. */
export const USUAL_SHAPE: WorldShape = { contentPercent: 0, localPercent: 0, depotCities: CITIES };
/** The largest ones, in which content networks have servers. */
const CONTENT_CITIES = 60;
const SYSTEMS_PER_CITY = 20;
const EARTH_KM = 6371;
/** Light in glass, there and back. */
const MS_PER_KM = 2 / 200;
/** Ways are longer than the shortest: the median factor, its spread, and the share that takes a detour. */
const DETOUR = { client: 1.6, depot: 1.3, spread: 0.2, share: 0.05, factor: 2 };
/** A way between two systems is now and then full. */
const EPOCH_MS = 6 * 3_600_000;
const FULL_SHARE = 0.08;
/** Losses of ways between systems: the usual ones, and the tail. */
const LOSS = { median: 1e-5, spread: 1.5, tailShare: 0.06, tailOf: 5e-4, tailTo: 1e-2 };

const MIB = 1_048_576;

/**
 * A drawn internet: ends in cities and systems; ways between them by distance, with detours, losses with a
 * tail, and hours in which they are full. Everything is a function of the seed, of who is asked for and of
 * the time: nothing is stored.
 */
export class World {
  readonly size: WorldSize;
  readonly #shape: WorldShape;
  readonly #hashed: Hashed;

  constructor(size: WorldSize, seed: number) {
    this.size = size;
    this.#shape = size.shape ?? USUAL_SHAPE;
    this.#hashed = new Hashed(seed);
  }

  client(number: number): End {
    const h = this.#hashed;
    const isBad = h.uniform(1, number, 1) < 0.05;
    return {
      kind: 'client',
      number,
      ...this.#place(1, number),
      accessRttMs: h.logNormal(8, 0.7, 1, number, 2),
      accessLossRate: Math.min(0.03, h.logNormal(isBad ? 2e-3 : 2e-5, 0.8, 1, number, 3)),
      accessRateBps: clamp(h.logNormal(100e6, 0.9, 1, number, 4), 5e6, 1e9),
      windowBytes: h.uniform(1, number, 5) < 0.15 ? MIB / 4 : 3 * MIB,
      sender: 'cubic',
      connectionBps: undefined,
    };
  }

  depot(number: number): End {
    const h = this.#hashed;
    return {
      kind: 'depot',
      number,
      ...this.#place(2, number, this.#cityOf(2, number, this.#shape.depotCities)),
      accessRttMs: 0.5,
      accessLossRate: 1e-6,
      accessRateBps: clamp(h.logNormal(2e9, 0.7, 2, number, 4), 500e6, 10e9),
      windowBytes: 64 * MIB,
      sender: 'bbr',
      connectionBps: undefined,
    };
  }

  origin(number: number): End {
    const h = this.#hashed;
    const { contentPercent, localPercent } = this.#shape;
    const isLocal = 100 * h.uniform(3, number, 11) < localPercent;
    const isContentNetwork = 100 * h.uniform(3, number, 10) < contentPercent;
    const isBad = h.uniform(3, number, 6) < 0.03 && !isContentNetwork;
    const city = isLocal ? this.#cityOf(1, number % this.size.prefixes) : this.#cityOf(3, number);
    return {
      kind: 'origin',
      number,
      ...this.#place(3, number, city),
      ...(isContentNetwork ? { isContentNetwork } : {}),
      accessRttMs: h.logNormal(1, 0.5, 3, number, 2),
      accessLossRate: Math.min(0.02, h.logNormal(isBad ? 1e-3 : 3e-6, 0.8, 3, number, 3)),
      accessRateBps: clamp(h.logNormal(800e6, 0.9, 3, number, 4), 20e6, 10e9),
      windowBytes: 4 * MIB,
      sender: h.uniform(3, number, 7) < 0.3 ? 'bbr' : 'cubic',
      connectionBps: h.uniform(3, number, 8) < 0.1 ? h.logNormal(20e6, 0.5, 3, number, 9) : undefined,
    };
  }

  /** How a connection from `from` to `receiver` really is at a time: what the models need of it. */
  leg(receiver: End, from: End, atMs: number): LegEstimate {
    const sender = from.isContentNetwork ? this.#serverBeside(receiver, from) : from;
    const h = this.#hashed;
    const isBackbone = receiver.kind === 'depot' && sender.kind === 'depot';
    const [one, two] = [receiver.system, sender.system].toSorted((a, b) => a - b) as [number, number];
    const way = [isBackbone ? 5 : 4, one, two] as const;
    const detours = h.uniform(...way, 1) < DETOUR.share ? DETOUR.factor : 1;
    const factor = h.logNormal(isBackbone ? DETOUR.depot : DETOUR.client, DETOUR.spread, ...way, 2) * detours;
    const usual = h.logNormal(LOSS.median, LOSS.spread, ...way, 3);
    const isTail = h.uniform(...way, 4) < LOSS.tailShare / (isBackbone ? 2 : 1);
    const tail = LOSS.tailOf * (LOSS.tailTo / LOSS.tailOf) ** h.uniform(...way, 5);
    const phase = h.uniform(...way, 6);
    const epoch = Math.floor(atMs / EPOCH_MS + phase);
    const isFull = h.uniform(...way, 7, epoch) < FULL_SHARE;
    const wayLoss = Math.min(
      0.03,
      (isTail ? tail : usual) + (isFull ? 3e-4 * 10 ** h.uniform(...way, 8, epoch) : 0),
    );
    const wayRate =
      h.logNormal(isBackbone ? 3e9 : 600e6, 0.8, ...way, 9) *
      (isFull ? 0.1 + 0.4 * h.uniform(...way, 10, epoch) : 1);
    const queueMs = isFull ? 5 + 35 * h.uniform(...way, 11, epoch) : 0;
    const lost = [receiver.accessLossRate, wayLoss, sender.accessLossRate];
    const { connectionBps } = sender;
    const rateBps = Math.min(receiver.accessRateBps, wayRate, sender.accessRateBps);
    return {
      rttMs:
        0.3 +
        kilometres(receiver, sender) * MS_PER_KM * Math.max(1.05, factor) +
        receiver.accessRttMs +
        sender.accessRttMs +
        queueMs,
      lossRate: 1 - lost.reduce((passed, rate) => passed * (1 - rate), 1),
      rateBps,
      windowBytes: Math.min(receiver.windowBytes, sender.windowBytes),
      sender: sender.sender,
      ...(connectionBps === undefined ? {} : { connectionBps: Math.min(connectionBps, rateBps) }),
    };
  }

  /** The server of a content network that is nearest to an end. */
  #serverBeside(end: End, network: End): End {
    const servers = Array.from({ length: CONTENT_CITIES }, (_, city) => {
      const system = this.#systemIn(city, 3, network.number, 30 + city);
      return { ...network, system, ...this.#cityAt(city) };
    });
    return servers.reduce((nearest, server) =>
      kilometres(end, server) < kilometres(end, nearest) ? server : nearest,
    );
  }

  /** Cities have unlike weights: the square draws the first ones more often. */
  #cityOf(kind: number, number: number, cities = CITIES): number {
    return Math.floor(cities * this.#hashed.uniform(kind, number, 20) ** 2);
  }

  #place(kind: number, number: number, city = this.#cityOf(kind, number)) {
    const h = this.#hashed;
    const { latitude, longitude } = this.#cityAt(city);
    return {
      system: this.#systemIn(city, kind, number, 21),
      latitude: latitude + 2 * (h.uniform(kind, number, 22) - 0.5),
      longitude: longitude + 2 * (h.uniform(kind, number, 23) - 0.5),
    };
  }

  #systemIn(city: number, ...names: readonly number[]): number {
    return city * SYSTEMS_PER_CITY + Math.floor(SYSTEMS_PER_CITY * this.#hashed.uniform(...names));
  }

  #cityAt(city: number) {
    const h = this.#hashed;
    return { latitude: -40 + 100 * h.uniform(10, city, 1), longitude: -180 + 360 * h.uniform(10, city, 2) };
  }
}

/** On a great circle. */
function kilometres(one: End, other: End): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const [a, b] = [radians(one.latitude), radians(other.latitude)];
  const [dLatitude, dLongitude] = [b - a, radians(other.longitude - one.longitude)];
  const half = Math.sin(dLatitude / 2) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(dLongitude / 2) ** 2;
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(half)));
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
