import type { Chain } from '@longhaul/shared';

/** After so long e times less counts of what a download took: lines, servers and other traffic have their hours. */
const LIFE_MS = 1_200_000;
/** The download before counts so much beside a newer one over the same chain. */
const SHARE_BEFORE = 0.5;
/** What is usual counts as so many downloads. */
const USUAL_WEIGHT = 0.25;
/** Only the entry depot says how long one took: it makes its chains a fifth faster at most, whatever it says. */
const MOST_FASTER = 1.2;
/** Slower chains are left for others sooner than this. */
const MOST_SLOWER = 4;
/** So much slower than the model says a chain is taken to be that nobody has tried, where one entry depot says so of others ... */
const MOST_UNTRIED_OF_ONE = 1.2;
/** ... and where several do. */
const MOST_UNTRIED = 2;

/** What one download took. */
export interface TimedDownload {
  readonly bodyBytes: number;
  readonly lanes: number;
  /** Of the client. */
  readonly seconds: number;
  /** How many times as long as the model said when it was planned. */
  readonly timesPlanned: number;
  readonly agoMs: number;
}

/** What the last downloads of a client network from an origin took over one chain, the newest first. */
export interface TakenWay {
  readonly chain: Chain;
  readonly downloads: readonly TimedDownload[];
}

/**
 * Corrects what the model says of a pair's chains by what their downloads took. The fastest of many predictions is the one that flatters most, so a chain
 * that nobody has tried is taken to be as much slower than predicted as the others were: prediction-guided choice among ways that are not all measured
 * (Jiang et al., "VIA: Improving Internet Telephony Call Quality Using Predictive Relay Selection", SIGCOMM 2016).
 */
export class TakenWays {
  readonly #ways: ReadonlyMap<string, TakenWay>;
  /** How many times as long as the model says a chain takes that nobody has tried. At least 1: what nobody has tried is no better than it looks. */
  readonly untried: number;

  constructor(ways: readonly TakenWay[]) {
    this.#ways = new Map(ways.map((way) => [way.chain.join(), way]));
    this.untried = untriedFactor(ways);
  }

  get chains(): Chain[] {
    return [...this.#ways.values()].map(({ chain }) => chain);
  }

  has(chain: Chain): boolean {
    return this.#ways.has(chain.join());
  }

  /**
   * How many times as long as the model says the next download over a chain takes.
   * @param model what it says now, in seconds, of so many bytes with so many lanes
   */
  factor(chain: Chain, sizeBytes: number, model: (sizeBytes: number, lanes: number) => number): number {
    const way = this.#ways.get(chain.join());
    if (!way) return this.untried;
    const logs = way.downloads.map(({ bodyBytes, lanes, seconds, timesPlanned, agoMs }, index) => {
      const timesNow = seconds / model(bodyBytes, lanes);
      // Where the model was right then and says less now, the world has changed for the better since.
      const times = timesNow > 1 ? Math.min(timesNow, Math.max(1, timesPlanned)) : timesNow;
      const likeness = Math.sqrt(Math.min(bodyBytes, sizeBytes) / Math.max(bodyBytes, sizeBytes));
      return {
        log: Math.log(Math.min(Math.max(times, 1 / MOST_FASTER), MOST_SLOWER)),
        weight: likeness * SHARE_BEFORE ** index * Math.exp(-agoMs / LIFE_MS),
      };
    });
    return weightedMean([...logs, { log: Math.log(this.untried), weight: USUAL_WEIGHT }]);
  }
}

/** What is usual of the pair: the middle of what each entry depot's chains took, so that none decides it alone. */
function untriedFactor(ways: readonly TakenWay[]): number {
  const byEntry = Map.groupBy(ways, ({ chain: [entry] }) => entry);
  const ofEntries = [...byEntry.values()]
    .map((own) =>
      weightedMean(
        own
          .flatMap(({ downloads }) =>
            downloads.map(({ timesPlanned, agoMs }) => ({
              log: Math.log(Math.min(Math.max(timesPlanned, 1 / MOST_SLOWER), MOST_SLOWER)),
              weight: Math.exp(-agoMs / LIFE_MS),
            })),
          )
          .concat({ log: 0, weight: USUAL_WEIGHT }),
      ),
    )
    .toSorted((one, other) => one - other);
  // Of two the lower one: what one says alone is bounded more.
  const middle = ofEntries[Math.floor((ofEntries.length - 1) / 2)] ?? 1;
  const most = ofEntries.length > 1 ? MOST_UNTRIED : MOST_UNTRIED_OF_ONE;
  return Math.min(Math.max(middle, 1), most);
}

function weightedMean(logs: readonly { readonly log: number; readonly weight: number }[]): number {
  const weights = logs.reduce((sum, { weight }) => sum + weight, 0);
  return Math.exp(logs.reduce((sum, { log, weight }) => sum + weight * log, 0) / weights);
}
