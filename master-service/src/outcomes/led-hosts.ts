import * as z from 'zod';
import type { Fact, FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { SpeakerRoom } from '../facts/speaker-room.ts';
import { keyOf, partsOf, secondOf } from '../facts/two-part-keys.ts';
import type { Pair } from '../planning/plans/learned-of-pairs.ts';
import type { LedTo, OriginPlace } from '../planning/plans/led-to.ts';
import type { PlannedJob } from './recent-jobs.ts';

/**
 * Pairs of a client network, or a depot, and a host that leads on, which are remembered, half a kilobyte
 * each; of one speaker no more than are left free.
 */
const MOST_PAIRS = 10_000;
/** Downloads of each: the last ones of a network, and of a depot those of the last networks. */
const MOST_DOWNLOADS = 5;
/** As long as what is measured of a host: without that it is of no use where bytes come from. */
const KEPT_MS = 7 * 86_400_000;
/** The same is learned again after so long: a host that is asked all day is told of once an hour. */
const SAME_AGAIN_MS = 3_600_000;
/** Jobs of which is remembered where redirects led them, about 150 bytes each: as many as reports of jobs. */
const MOST_JOBS = 50_000;
/** A download that takes longer counts as one that led nowhere. */
const JOB_LIFE_MS = 86_400_000;
/**
 * Where several depots say where a host leads, those count that said so within so long before the newest
 * word: sites move, and depots leave.
 */
const VOICE_MS = 86_400_000;
/** So many voices count of a host, the newest ones. */
const MOST_VOICES = 9;
/**
 * So many depots that name the same host are believed by others: one alone only where no other one has met
 * the host that is asked.
 */
const AGREEING = 2;

const place = {
  host: z.string().regex(/^[a-z0-9.:_-]{1,255}$/),
  port: z.int().min(1).max(65_535),
};

const toldDownload = z.looseObject({
  jobId: z.string().max(16),
  /** The entry depot that tells. */
  by: z.string().max(64),
  /** The client's. */
  network: z.string().max(64),
  /** Left out where the host that was asked gave the file itself. */
  led: z.looseObject(place).optional(),
  agoMs: z.number().min(0),
});
type ToldDownload = z.output<typeof toldDownload>;

/** Where the last downloads from a host came from, the newest first, by `<network> <host>` and by `<depot> <host>`. */
const HOST_LEADS = {
  name: 'host-leads',
  schema: z.looseObject({ downloads: z.array(toldDownload).min(1).max(MOST_DOWNLOADS) }),
  keys: /^[0-9a-z.:/-]{1,64} [a-z0-9.:_-]{1,255}$/,
  most: MOST_PAIRS,
  whenFull: 'forget-oldest',
  lifeMs: KEPT_MS,
  isKept: true,
} satisfies FactKind<unknown>;
type Told = Fact<z.output<(typeof HOST_LEADS)['schema']>>;

/**
 * The last host that a job's redirects led an entry depot to, by `<job id> <depot>`: who has planned the job
 * may be another master.
 */
const JOB_LED = {
  name: 'job-led',
  schema: z.looseObject(place),
  keys: /^[A-Za-z0-9_-]{1,16} [a-z0-9-]{1,10}$/,
  most: MOST_JOBS,
  whenFull: 'forget-oldest',
  lifeMs: JOB_LIFE_MS,
  isKept: false,
} satisfies FactKind<unknown>;

export const LED_FACTS = [HOST_LEADS, JOB_LED];

type LedJob = Pick<PlannedJob, 'jobId' | 'network' | 'host' | 'isAsked'>;

/**
 * What the downloads that a depot tells of say together: a place, or nothing, because it gave them itself or
 * they differ.
 */
type Voice = OriginPlace | undefined;

/** What is said of a host that is asked. */
interface Voices {
  /** By depot, and since when. */
  readonly byDepot: Map<string, { readonly voice: Voice; readonly atMs: number }>;
  /** Those that count. */
  readonly counted: readonly Voice[];
  /** What most of them say. */
  readonly most: Voice;
}

/**
 * Which hosts the bytes of downloads come from that begin at another one: a site's own name often leads to
 * storage, and a redirector to mirrors. A network's own downloads say it for the network; for all others most
 * of the depots that tell of the host.
 */
export class LedHosts {
  readonly #facts: Facts;
  readonly #metBy: (host: string) => Iterable<string>;
  readonly #room: { readonly leads: SpeakerRoom<Told['value']>; readonly jobs: SpeakerRoom<OriginPlace> };
  /** By the host that is asked. */
  readonly #voices = new Map<string, Voices>();

  /** `metBy`: the depots that have measured a host. */
  constructor(metBy: (host: string) => Iterable<string>, facts = new Facts({ kinds: LED_FACTS })) {
    this.#facts = facts;
    this.#metBy = metBy;
    this.#room = {
      leads: new SpeakerRoom({ facts, kind: HOST_LEADS }),
      jobs: new SpeakerRoom({ facts, kind: JOB_LED, speakerOf: secondOf }),
    };
    facts.store.watch(HOST_LEADS, (now, before) => this.#refresh((now ?? before)?.key));
  }

  /** Takes in that an entry depot asks for a ticket for where a job was redirected to. */
  noteFollowUp(depot: string, jobId: string, { host, port }: OriginPlace, nowMs: number): void {
    const key = keyOf(jobId, depot);
    const known = this.#facts.store.newest(JOB_LED, key)?.value;
    if (known?.host === host && known.port === port) return;
    this.#room.jobs.learn(key, { host, port }, nowMs);
  }

  /** Calls `listener` with each place that a job is led to, whichever master was asked for a ticket for it. */
  onJobLed(listener: (jobId: string, depot: string, to: OriginPlace, atMs: number) => void): void {
    this.#facts.store.watch(JOB_LED, (now, before) => {
      const isNews = now?.value.host !== before?.value.host || now?.value.port !== before?.value.port;
      if (now && isNews) listener(...partsOf(now.key), now.value, now.timeMs);
    });
  }

  /**
   * Takes in where a job is led to, by its entry depot. Who chooses chains by himself would speak by as many
   * depots as he likes.
   */
  note(job: LedJob, depot: string, { host, port }: OriginPlace, nowMs: number): void {
    // Another port, or scheme, of the same host is as far.
    if (host === job.host) this.#noteItself(job, depot, nowMs);
    else this.#note(job, { by: depot, led: { host, port } }, nowMs);
  }

  /**
   * Takes in that a job's download has come whole: from the host that was asked, where no redirect led it
   * elsewhere.
   */
  noteEnded(job: LedJob, depot: string, nowMs: number): void {
    if (!this.#facts.store.newest(JOB_LED, keyOf(job.jobId, depot))) this.#noteItself(job, depot, nowMs);
  }

  /** Whether anybody has told that a host leads on: of nearly all nobody has, and nothing needs to be looked up. */
  mayLead(host: string): boolean {
    return this.#voices.has(host);
  }

  /**
   * Where the bytes of a download come from that is asked for at `host`: what most of the last downloads of
   * its network say, and where there are none, most of the depots. `undefined`: from that host, as far as
   * anybody knows.
   */
  of({ network, host }: Partial<Pick<Pair, 'network'>> & Pick<Pair, 'host'>): LedTo | undefined {
    const voices = this.#voices.get(host);
    if (!voices) return undefined;
    const { byDepot, counted, most } = voices;
    const own = network === undefined ? [] : this.#told(keyOf(network, host));
    const to = own.length > 0 ? ofMost(own.map((one) => one.led)) : most;
    if (!to) return undefined;
    const agreeing = counted.filter((voice) => voice?.host === to.host).length;
    const isAgreed = agreeing >= AGREEING && most?.host === to.host;
    if (own.length === 0 && !isAgreed && [...this.#metBy(host)].some((depot) => !byDepot.has(depot)))
      return undefined;
    const [met] = this.#metBy(to.host);
    return { host: to.host, port: to.port, isAgreed, isOwn: own.length > 0, isMet: met !== undefined };
  }

  /** Forgets what a depot has told: it is not believed any more. */
  forgetFrom(depot: string): void {
    for (const { key, source, value, timeMs } of this.#facts.store.held(HOST_LEADS)) {
      const downloads = value.downloads.filter(({ by }) => by !== depot);
      if (source !== this.#facts.source || downloads.length === value.downloads.length) continue;
      if (downloads.length === 0) this.#facts.store.forget(HOST_LEADS, key, source);
      else this.#facts.learn(HOST_LEADS, key, { ...value, downloads }, timeMs);
    }
  }

  /** Of hosts that lead nowhere, as nearly all do, nothing is remembered. */
  #noteItself(job: LedJob, depot: string, nowMs: number): void {
    if (this.mayLead(job.host)) this.#note(job, { by: depot }, nowMs);
  }

  #note(
    { jobId, network, host, isAsked }: LedJob,
    told: Pick<ToldDownload, 'by' | 'led'>,
    nowMs: number,
  ): void {
    if (isAsked) return;
    const now = { ...told, jobId, network, agoMs: 0 };
    this.#join(keyOf(network, host), now, (one) => one.jobId === jobId, nowMs);
    // Else one network that asks all day would be all that a depot tells of.
    this.#join(keyOf(told.by, host), now, (one) => one.network === network, nowMs);
  }

  /** Puts a download before those that are known, in the place of the one that it comes after. */
  #join(key: string, now: ToldDownload, isBefore: (one: ToldDownload) => boolean, nowMs: number): void {
    const known = this.#facts.own(HOST_LEADS, key);
    const before = known ? aged(known, nowMs) : [];
    const downloads = [now, ...before.filter((one) => !isBefore(one))].slice(0, MOST_DOWNLOADS);
    const isNews = hostsOf(downloads) !== hostsOf(before) || (before[0]?.agoMs ?? 0) >= SAME_AGAIN_MS;
    if (!isNews) return;
    this.#room.leads.learn(key, { downloads }, nowMs);
  }

  /** The newest of what all masters know under a key. */
  #told(key: string): readonly ToldDownload[] {
    const facts = this.#facts.store.all(HOST_LEADS, key);
    const newestMs = newestOf(facts);
    const all = facts.flatMap((fact) => aged(fact, newestMs));
    return all.toSorted((one, other) => one.agoMs - other.agoMs).slice(0, MOST_DOWNLOADS);
  }

  #refresh(key: string | undefined): void {
    if (key === undefined) return;
    const [speaker, host] = partsOf(key);
    // A network speaks for itself alone.
    if (speaker.includes('/')) return;
    const { byDepot } = this.#voices.get(host) ?? { byDepot: new Map() };
    const told = this.#told(key);
    const atMs = newestOf(this.#facts.store.all(HOST_LEADS, key)) - (told[0]?.agoMs ?? 0);
    if (told.length > 0) byDepot.set(speaker, { voice: ofMost(told.map((one) => one.led)), atMs });
    else byDepot.delete(speaker);
    const counted = countedOf([...byDepot.values()]);
    if (byDepot.size > 0) this.#voices.set(host, { byDepot, counted, most: ofMost(counted) });
    else this.#voices.delete(host);
  }
}

/** The voices that count: the newest ones, and of these old ones only where nobody else has said anything of late. */
function countedOf(all: readonly { readonly voice: Voice; readonly atMs: number }[]): readonly Voice[] {
  const newest = all.toSorted((one, other) => other.atMs - one.atMs).slice(0, MOST_VOICES);
  const late = newest.filter(({ atMs }) => atMs > (newest[0]?.atMs ?? 0) - VOICE_MS);
  return (late.length >= AGREEING ? late : newest).map(({ voice }) => voice);
}

function newestOf(facts: readonly Pick<Told, 'timeMs'>[]): number {
  return Math.max(...facts.map(({ timeMs }) => timeMs));
}

/** The place that more than half of them name. */
function ofMost(told: readonly Voice[]): Voice {
  const [most = []] = [...Map.groupBy(told, (one) => one?.host).values()].toSorted(
    (one, other) => other.length - one.length,
  );
  return 2 * most.length > told.length ? most[0] : undefined;
}

function aged({ value: { downloads }, timeMs }: Told, nowMs: number): ToldDownload[] {
  const passedMs = Math.max(0, nowMs - timeMs);
  return downloads
    .map((one) => ({ ...one, agoMs: one.agoMs + passedMs }))
    .filter(({ agoMs }) => agoMs < KEPT_MS);
}

function hostsOf(downloads: readonly ToldDownload[]): string {
  return downloads.map((one) => one.led?.host ?? '').join(' ');
}
