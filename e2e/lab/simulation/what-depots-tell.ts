import { masterOf } from '@longhaul/master-service/parts';
import {
  type LegEstimate,
  type LinkReport,
  legGoodput,
  type OriginReport,
  SEGMENT_BYTES,
} from '@longhaul/shared';
import type { Hashed } from './hashed.ts';
import { type Neighbours, nearestOf } from './neighbours.ts';
import { NOISE_OF } from './noise-of.ts';
import { type Download, trueLegs, type Way } from './oracle.ts';
import type { Knowledge } from './sim-line.ts';
import { depotId, depotNumber, originOf, prefixOf, whoOf } from './sim-names.ts';
import type { SimulatedMaster } from './simulated-master.ts';
import type { End, World } from './world.ts';

/**
 * Share of depots that report half the round trip, three times the goodput, no loss, and downloads in half
 * the time; and of client networks that complain of everything.
 */
const LYING = { depots: 0.1, prefixes: 0.01 };
/**
 * Depots test the links between them so often, by about so many bytes: with all neighbours that one has,
 * about 20 MB an hour.
 */
const TESTED = { everyMs: 7_200_000, bytes: 1_000_000 };
/** What a connection that is opened and closed weighs. */
const PROBE_BYTES = 500;
/** How much one measurement scatters. */
const NOISE = 0.1;
/** Connections that lost so often show what losses leave to them, and not how they began. */
const WEARING_LOSSES = 10;
/** Anycast leads so many clients to the site that is nearest to them, and the others to one of the next ones. */
const CATCHMENT = { nearest: 0.8, next: 3 };
/** Routes to an anycast address stay for so long. */
const CATCHMENT_MS = 86_400_000;

/** In place of the depot that a leg leads to. */
const CLIENT_END = -1;
const ORIGIN_END = -2;

interface DepotReportsInit {
  readonly world: World;
  readonly knowledge: Knowledge;
  readonly depots: readonly End[];
  readonly neighbours: readonly Neighbours[];
  readonly noise: Hashed;
}

/** What the depots of a world, and its masters, measure and tell the simulated one; some of them lie. */
export class DepotReports {
  readonly #world: World;
  readonly #knowledge: Knowledge;
  readonly #depots: readonly End[];
  readonly #neighbours: readonly Neighbours[];
  readonly #noise: Hashed;
  /** Tests of links so far. */
  #tested = 0;
  #measuringBytes = 0;

  constructor({ world, knowledge, depots, neighbours, noise }: DepotReportsInit) {
    this.#world = world;
    this.#knowledge = knowledge;
    this.#depots = depots;
    this.#neighbours = neighbours;
    this.#noise = noise;
  }

  /** Bytes that were spent on nothing but measuring since this was asked last. */
  takeMeasuringBytes(): number {
    const bytes = this.#measuringBytes;
    this.#measuringBytes = 0;
    return bytes;
  }

  /**
   * Each site has a master and a depot; the master that is asked sees the round trip to the client, in its
   * own kernel.
   */
  seeClient(master: SimulatedMaster, { client, atMs }: Download, number: number): void {
    const order = [client.number, Math.floor(atMs / CATCHMENT_MS)];
    const sites = nearestOf(
      this.#depots,
      (depot) => this.#world.leg(client, depot, atMs),
      1 + CATCHMENT.next,
    );
    const isNearest = this.#noise.uniform(...order, NOISE_OF.nearestSite) < CATCHMENT.nearest;
    const next = 1 + Math.floor(this.#noise.uniform(...order, NOISE_OF.nextSite) * (sites.length - 1));
    const site = sites[isNearest ? 0 : next] ?? sites[0];
    if (!site) return;
    const rttMs = site.leg.rttMs * this.#noise.logNormal(1, NOISE, number, site.end.number, NOISE_OF.seenRtt);
    const clients = [{ prefix: prefixOf(client), rttMs }];
    const told = { type: 'ends-report', nowMs: atMs } as const;
    master.tell({ ...told, from: masterOf(depotId(site.end.number)), clients, origins: [] });
  }

  /**
   * What the depots of a chain tell of their connections to each other: who sends can tell. Lanes share a
   * leg; each is as fast as it would be alone, or has its part of the line.
   */
  reportLegs(master: SimulatedMaster, download: Download, { depots, lanes }: Way, number: number): void {
    const legs = trueLegs(this.#world, download, depots);
    for (const [at, receiver] of depots.slice(0, -1).entries()) {
      const sender = depots[at + 1] ?? receiver;
      const leg = legs[at + 1];
      if (!leg) continue;
      const alone = this.#reportOf(leg, sender, receiver, number);
      const part = legGoodput(leg, lanes).goodputBps / legGoodput(leg).goodputBps / lanes;
      const { goodputBps = 0 } = alone;
      const report = { ...alone, goodputBps: part * goodputBps, totalBps: lanes * part * goodputBps };
      master.tell({
        type: 'report',
        from: depotId(sender),
        report: lanes === 1 ? alone : report,
        nowMs: download.atMs,
      });
    }
  }

  /**
   * What depots find by tests of the links between them: one after the other, each after its time. All were
   * tested before the first download.
   */
  testLinks(master: SimulatedMaster, atMs: number): void {
    const count = this.#neighbours.length;
    const until = count + Math.floor((atMs / TESTED.everyMs) * count);
    const from = Math.max(this.#tested, until - count);
    this.#tested = until;
    for (let at = from; at < until; at += 1) {
      const [one, two] = this.#neighbours[at % count] ?? [];
      if (!one || !two) continue;
      for (const [sender, receiver] of [
        [one, two],
        [two, one],
      ] as const) {
        const leg = this.#world.leg(receiver, sender, atMs);
        const report = this.#reportOf(leg, sender.number, receiver.number, Math.floor(atMs / 1000));
        master.tell({ type: 'report', from: depotId(sender.number), report, nowMs: atMs });
        this.#measuringBytes += TESTED.bytes;
      }
    }
  }

  /** What the entry depot saw of the client, and the exit depot of the origin. */
  reportEnds(master: SimulatedMaster, download: Download, { depots, lanes }: Way, number: number): void {
    const legs = trueLegs(this.#world, download, depots);
    const [entry, exit, toClient, fromOrigin] = [depots[0], depots.at(-1), legs[0], legs.at(-1)];
    if (entry === undefined || exit === undefined || !toClient || !fromOrigin) return;
    const { origin } = whoOf(download);
    const { sizeBytes, atMs } = download;
    const seen = this.#reportOf(toClient, entry, CLIENT_END, number);
    const lost = Math.round(sizeBytes * (seen.lossRate ?? 0));
    const report = {
      prefix: prefixOf(download.client),
      rttMs: seen.rttMs,
      sentBytes: sizeBytes,
      retransmittedBytes: lost,
      ...(seen.goodputBps === undefined ? {} : { goodputBps: seen.goodputBps }),
    };
    const told = { type: 'ends-report', nowMs: atMs } as const;
    master.tell({ ...told, from: depotId(entry), clients: [report], origins: [] });
    const shown = this.#reportOf(fromOrigin, exit, ORIGIN_END, number);
    const lostBytes = Math.round(sizeBytes * (shown.lossRate ?? 0));
    const { goodputBps } = shown;
    const isWorn = goodputBps !== undefined && lostBytes >= WEARING_LOSSES * SEGMENT_BYTES;
    const worn = isWorn ? { worn: { goodputBps, receivedBytes: sizeBytes, lostBytes } } : {};
    const rate =
      lanes === 1 ? { goodputBps, ...worn } : { totalBps: legGoodput(fromOrigin, lanes).goodputBps };
    const limit = fromOrigin.connectionBps === undefined ? 'network' : 'origin';
    const origins = [
      {
        ...originOf(download, origin),
        rttMs: shown.rttMs,
        receivedBytes: sizeBytes,
        lostBytes,
        ...rate,
        limit,
        takesRanges: true,
      },
    ] satisfies OriginReport[];
    master.tell({ ...told, from: depotId(exit), clients: [], origins });
  }

  /** What the depots of a chain tell of a download when it is over. */
  tellOutcome(
    master: SimulatedMaster,
    download: Download,
    {
      depots,
      lanes,
      seconds,
      modelSeconds,
    }: Way & { readonly seconds: number; readonly modelSeconds: number },
    number: number,
  ): void {
    const [entry = 0, second] = depots;
    const tells = (depot: number) => (this.#isLyingDepot(depot) ? seconds / 2 : seconds);
    const told = tells(entry);
    master.tell({
      type: 'outcome',
      who: whoOf(download),
      download: {
        jobId: String(number),
        chain: depots.map((depot) => depotId(depot)),
        lanes,
        bodyBytes: download.sizeBytes,
        seconds: told,
        timesPlanned: told / modelSeconds,
        isSeconded: second !== undefined && tells(second) <= told,
      },
      nowMs: download.atMs,
    });
  }

  /** Depots probe the origin until the master wants no more of that: what they find decides who is next. */
  async probe(master: SimulatedMaster, download: Download, number: number): Promise<void> {
    const who = whoOf(download);
    for (;;) {
      const told = await master.heard({ type: 'heard', who, nowMs: download.atMs });
      if (told.length === 0) return;
      for (const id of told) {
        const depot = this.#depots[depotNumber(id)];
        if (!depot) continue;
        const leg = this.#world.leg(depot, download.origin, download.atMs);
        const { rttMs } = this.#reportOf(leg, depot.number, ORIGIN_END, number);
        const origins = [{ ...originOf(download, who.origin), rttMs }];
        master.tell({ type: 'ends-report', from: id, clients: [], origins, nowMs: download.atMs });
        this.#measuringBytes += PROBE_BYTES;
      }
    }
  }

  /** A leg as its sender tells of it, who may lie. */
  #reportOf(leg: LegEstimate, sender: number, receiver: number, number: number): LinkReport {
    const h = this.#noise;
    const scatter = (figure: number) => h.logNormal(1, NOISE, number, sender, receiver, figure);
    const isLiar = this.#isLyingDepot(sender);
    return {
      to: depotId(receiver),
      rttMs: leg.rttMs * scatter(NOISE_OF.rtt) * (isLiar ? 0.5 : 1),
      lossRate: isLiar ? 0 : leg.lossRate * scatter(NOISE_OF.loss),
      goodputBps: legGoodput(leg).goodputBps * scatter(NOISE_OF.goodput) * (isLiar ? 3 : 1),
    };
  }

  #isLyingDepot(depot: number): boolean {
    return this.#knowledge !== 'honest' && this.#noise.uniform(depot, NOISE_OF.lyingDepot) < LYING.depots;
  }

  /** Whether a client complains of everything. */
  isLyingClient({ number }: End): boolean {
    return (
      this.#knowledge === 'measured' && this.#noise.uniform(number, NOISE_OF.lyingClient) < LYING.prefixes
    );
  }
}
