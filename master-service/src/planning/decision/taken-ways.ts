import { type Chain, chainKey, chainOf } from '@longhaul/shared';

/** After so long e times less counts of what a download took: lines, servers and other traffic have their hours. */
const LIFE_MS = 1_200_000;
/**
 * So large a share of what is known is no slower than the middle of it: a little less than half, so that of a
 * few the lower ones count.
 */
export const MIDDLE = 0.4;
/** What the model says of a chain counts as so many of its downloads, and beside entry depots as so many of them. */
const MODEL_WEIGHT = 1;
/** Only the entry depot says how long a download took: it makes its chain a fifth faster than others at most ... */
const MOST_FASTER = Math.log(1.2);
/** ... and so many times, where the depot behind it has told the same. */
const MOST_FASTER_SECONDED = Math.log(2.5);
/** What one download took longer is an accident, and no chain is put further behind others ... */
const MOST_SLOWER = Math.log(4);
/** ... unless so many of those that are remembered say so, and the middle of them, and they weigh so much. */
const LEAST_SLOWER_OFTEN = { downloads: 2, weight: 0.5 };
/** What has come to a stop would take for ever. */
export const MOST_TIMES_PLANNED = 1000;
/**
 * What direct downloads took only their clients say: so many times more or less a chain gains by their word,
 * for their network, than it would without.
 */
const MOST_BY_CLIENTS = Math.log(2);
/**
 * Of what direct downloads took too long, or a chain's, so much is the line's or the origin's doing, until
 * the other one was taken as well.
 */
const IN_COMMON = 0.5;

/** What one download took. */
export interface TimedDownload {
  readonly bodyBytes: number;
  readonly lanes: number;
  /** Of the client. */
  readonly seconds: number;
  /** How many times as long as the model said when it was planned. */
  readonly timesPlanned: number;
  /** Whether a second depot of its chain says so as well. */
  readonly isSeconded: boolean;
  /** Whether its client gave it up: it would have taken longer. */
  readonly isAtLeast?: boolean | undefined;
  readonly agoMs: number;
}

/** What the last downloads of a client network from an origin took over one chain, the newest first. */
export interface TakenWay {
  readonly chain: Chain;
  readonly downloads: readonly TimedDownload[];
}

/** What the model says now of one chain, in seconds, of so many bytes with so many lanes. */
export type ChainModel = (sizeBytes: number, lanes: number) => number;

/** Whether two depots are at one site, behind the same lines; each is at its own. */
export type AtOneSite = (one: string, other: string) => boolean;

/** How far the model is off, of one chain. */
interface Told {
  /** Logarithm of how many times as long as it says downloads take. */
  readonly log: number;
  /** So many downloads say so. */
  readonly weight: number;
  /** By so much, in the logarithm, it may be faster than others. */
  readonly mostFaster: number;
}

/** The same, with what is left out where too few say so. */
interface ToldInFull extends Told {
  /** As the middle of its downloads says, whatever that is. */
  readonly middleLog: number;
  /** Those of them that say that it is slower than one alone can say. */
  readonly slower: readonly Pick<Told, 'weight'>[];
}

/**
 * How many times as long as the model says, and as the calibration of all chains says, downloads of
 * `sizeBytes` take over a chain.
 */
export function timesTaken(way: TakenWay, sizeBytes: number, model: ChainModel, calibration: number): number {
  const { log, weight } = told(way, sizeBytes, model);
  const known = weight / (weight + MODEL_WEIGHT);
  return Math.exp(known * log + (1 - known) * Math.log(calibration));
}

/** What is wrong of all chains of an entry depot that pass some depots. */
export interface EntryFault {
  /** Itself among them. */
  readonly depots: readonly string[];
  /** How many times as long as the model says downloads take over these. */
  readonly times: number;
}

/**
 * What is wrong of an entry depot by its chains that were taken: `undefined` unless they are two, and all took
 * by far too long. It is where they are one way, which may be no more than that to the client: else each of
 * its chains would disappoint by itself. Depots behind it can make them look so as well: one that all pass,
 * which is named with it, or several that collude, one in each.
 */
export function entryFault(
  ways: readonly { readonly way: TakenWay; readonly model: ChainModel }[],
  sizeBytes: number,
): EntryFault | undefined {
  const [first, ...others] = ways;
  if (!first || others.length === 0) return undefined;
  const all = ways.map(({ way, model }) => told(way, sizeBytes, model));
  const log = Math.min(...all.map(({ middleLog }) => middleLog));
  if (log <= MOST_SLOWER || !isOften(all.flatMap(({ slower }) => slower))) return undefined;
  const depots = first.way.chain.filter((id) => others.every(({ way }) => way.chain.includes(id)));
  return { depots, times: Math.exp(shareOf({ log, weight: weightOf(all) })) };
}

/**
 * How many times slower each chain is than the model's order of them says, by what downloads took: 1 of a
 * chain that nobody took. What all have in common is no chain's: where all of them take longer than the model
 * says, those that nobody took will as well. (A choice guided by predictions, corrected by what came of them:
 * Jiang et al., "VIA: Improving Internet Telephony Call Quality Using Predictive Relay Selection", SIGCOMM
 * 2016.) The entry depots of one site are one voice: what is wrong of its lines is in all that they tell.
 */
export function wayFactors(
  ways: readonly { readonly way: TakenWay; readonly model: ChainModel }[],
  sizeBytes: number,
  areAtOneSite: AtOneSite,
): ReadonlyMap<string, number> {
  const said = ways.map(({ way, model }) => ({
    key: chainKey(way.chain),
    entry: way.chain[0],
    ...told(way, sizeBytes, model),
  }));
  // No entry depot takes away by itself what the chains of others have in common; the fewer they are, the
  // less sure it is that this is no accident.
  const all = said.map((one) => {
    const others = said.filter(({ entry }) => entry !== one.entry);
    const voices = voicesOf(others, areAtOneSite);
    const agreed = (voices / (voices + MODEL_WEIGHT)) * inCommon(others.map(({ log }) => log));
    return { ...one, log: Math.max(one.log, agreed - one.mostFaster) };
  });
  const common = inCommon(all.map(({ log }) => log));
  // The chains of one entry depot, or site, may be off by that as well as with all others: so that this is
  // ever known, another one is tried once several downloads say so.
  const isAlone = voicesOf(all, areAtOneSite) === 1;
  // By what each itself took: what the others say of one that was fast is no reason to leave it.
  const ofSite = inCommon(said.map(({ log }) => log));
  const isOfOne = new Set(all.map(({ entry }) => entry)).size === 1;
  return new Map(
    all.map(({ key, log: taken, weight, mostFaster }) => {
      const own = Math.min(Math.max(taken - common, -mostFaster), MOST_SLOWER);
      const ofItsDepot = isAlone ? shareOf({ log: ofSite / 2, weight: Math.max(0, weight - 1) }) : 0;
      const ofItself = shareOf({ log: own, weight });
      // What one depot of a site says of the others adds nothing to what is said of it by itself.
      const isBoth = isOfOne || ofItsDepot <= 0;
      const log = isBoth ? ofItself + ofItsDepot : Math.max(ofItself, ofItsDepot);
      return [key, Math.exp(Math.min(log, MOST_SLOWER))];
    }),
  );
}

/**
 * The factor of a chain that nobody took, by those of its twins that were taken, which pass the same sites in
 * the same order: else each of many twins would disappoint by itself. It is no more than the best of them
 * has, and less the fewer say so. One alone says nothing, and another entry depot is one however many chains
 * it has: nobody slows a chain by coming to stand beside its entry depot.
 */
export function twinFactor(
  chain: Chain,
  factors: ReadonlyMap<string, number>,
  areAtOneSite: AtOneSite,
): number {
  const twins = [...factors]
    .map(([key, factor]) => ({ chain: chainOf(key), factor }))
    .filter((one) => areTwins(one.chain, chain, areAtOneSite));
  const isOwn = (entry: string | undefined) => entry === chain[0];
  const ownChains = twins.filter((one) => isOwn(one.chain[0])).length;
  const others = new Set(twins.map((one) => one.chain[0]).filter((entry) => !isOwn(entry))).size;
  const least = Math.min(...twins.map(({ factor }) => factor));
  if (ownChains + others < 2 || least <= 1) return 1;
  return Math.exp(shareOf({ log: Math.log(least), weight: ownChains + others - 1 }));
}

/** How many times as long as is worked out of it direct downloads take, of late. */
export function timesDirect(
  downloads: readonly TimedDownload[],
  sizeBytes: number,
  model: (sizeBytes: number) => number,
): number {
  const { log, weight } = told({ downloads }, sizeBytes, model);
  // Nobody can check what clients tell: however many say so, it is no more than one alone can say.
  return Math.exp(shareOf({ log: Math.min(log, MOST_SLOWER), weight }));
}

/**
 * How many times more a chain gains over the direct way than the model of both says, by what downloads took
 * directly and over the chain: what both have in common is left out, which is half of what the one took too
 * long that was taken alone.
 */
export function gainTaken(
  direct: { readonly downloads: readonly TimedDownload[]; readonly model: (sizeBytes: number) => number },
  chain: { readonly way: TakenWay; readonly model: ChainModel } | undefined,
  sizeBytes: number,
): number {
  const ofChain = chain && shareOf(told(chain.way, sizeBytes, chain.model));
  const untold = (IN_COMMON - 1) * Math.max(0, ofChain ?? 0);
  if (direct.downloads.length === 0) return Math.exp(untold);
  const ofDirect = Math.log(timesDirect(direct.downloads, sizeBytes, direct.model));
  const byClients = ofDirect - (ofChain ?? IN_COMMON * Math.max(0, ofDirect)) - untold;
  return Math.exp(untold + Math.min(Math.max(byClients, -MOST_BY_CLIENTS), MOST_BY_CLIENTS));
}

/**
 * How many voices entry depots have: the most of them of which no two are at one site. So each adds one at
 * most, and by standing between two others it takes away none.
 */
function voicesOf(said: readonly { readonly entry: string | undefined }[], areAtOneSite: AtOneSite): number {
  const most = ([first, ...others]: readonly string[]): number => {
    if (first === undefined) return 0;
    const elsewhere = others.filter((other) => !areAtOneSite(first, other));
    const withFirst = 1 + most(elsewhere);
    return elsewhere.length === others.length ? withFirst : Math.max(withFirst, most(others));
  };
  return most([...new Set(said.map(({ entry = '' }) => entry))]);
}

/** Whether two chains pass the same sites in the same order. */
function areTwins(one: Chain, other: Chain, areAtOneSite: AtOneSite): boolean {
  const [sites, others] = [one, other].map((chain) =>
    chain.filter((depot, place) => place === 0 || !areAtOneSite(chain[place - 1] ?? '', depot)),
  );
  return (
    sites?.length === others?.length &&
    sites?.every((depot, place) => areAtOneSite(depot, others?.[place] ?? '')) === true
  );
}

/** What counts of how far the model is off, as a logarithm: the more downloads say so. */
function shareOf({ log, weight }: Pick<Told, 'log' | 'weight'>): number {
  return (weight / (weight + MODEL_WEIGHT)) * log;
}

/** By how much all are off at least to the same side; 0 where some are off to the one and some to the other. */
function inCommon(logs: readonly number[]): number {
  return logs.length === 0 ? 0 : Math.max(0, Math.min(...logs)) + Math.min(0, Math.max(...logs));
}

function told({ downloads }: Pick<TakenWay, 'downloads'>, sizeBytes: number, model: ChainModel): ToldInFull {
  const each = downloads.map(({ bodyBytes, lanes, seconds, timesPlanned, isSeconded, isAtLeast, agoMs }) => {
    const timesNow = seconds / model(bodyBytes, lanes);
    // Where the model was right then and says otherwise now, the world has got better since, or worse.
    const times =
      timesNow > 1
        ? Math.min(timesNow, Math.max(1, timesPlanned))
        : Math.max(timesNow, Math.min(1, timesPlanned));
    const mostFaster = isSeconded ? MOST_FASTER_SECONDED : MOST_FASTER;
    const likeness = Math.sqrt(Math.min(bodyBytes, sizeBytes) / Math.max(bodyBytes, sizeBytes));
    return {
      log: Math.min(Math.max(Math.log(times), -mostFaster), Math.log(MOST_TIMES_PLANNED)),
      weight: likeness * Math.exp(-agoMs / LIFE_MS),
      mostFaster,
      isAtLeast,
    };
  });
  // What was given up would have taken as long as what was not.
  const least = lowerMiddle(each.filter(({ isAtLeast }) => !isAtLeast))?.log ?? 0;
  const all = each.map((one) => (one.isAtLeast ? { ...one, log: Math.max(one.log, least) } : one));
  const { log, mostFaster } = lowerMiddle(all) ?? { log: 0, mostFaster: MOST_FASTER };
  const slower = all.filter((one) => one.log > MOST_SLOWER);
  return {
    log: isOften(slower) ? log : Math.min(log, MOST_SLOWER),
    middleLog: log,
    slower,
    mostFaster,
    weight: weightOf(all),
  };
}

/** Whether so many say that a chain is slower than one alone can say that it is no accident. */
function isOften(slower: ToldInFull['slower']): boolean {
  const { downloads, weight } = LEAST_SLOWER_OFTEN;
  return slower.length >= downloads && weightOf(slower) >= weight;
}

function weightOf(all: readonly Pick<Told, 'weight'>[]): number {
  return all.reduce((sum, { weight }) => sum + weight, 0);
}

/**
 * The middle by weight, rather a lower one: a download that takes too long says less than one that does not.
 * In a network of many lines some clients are always slow, whatever their way; none is faster than its way.
 */
function lowerMiddle(all: readonly Told[]): Told | undefined {
  const below = MIDDLE * weightOf(all);
  let passed = 0;
  return all
    .toSorted((one, other) => one.log - other.log)
    .find(({ weight }) => {
      passed += weight;
      return passed >= below;
    });
}
