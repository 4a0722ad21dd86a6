import {
  bytesPerMsOf,
  type ChainPromise,
  CONGESTION_CONTROLS,
  SEGMENT_BYTES,
  USUAL_CONGESTION_CONTROL,
} from '@longhaul/shared';

/** One lane is given a chance where losses leave it at least this part of what the plan promises of all. */
const ENOUGH_PART = 0.7;
const SAMPLE_MS = 50;
/** A rate is that of so many samples: what waited for a lost packet comes in a burst, which is no rate. */
const SAMPLES = 4;
/** A connection that still finds its rate brings so much more from sample to sample. */
const GROWING = 1.05;
/** After so many samples without growth it has found it: CUBIC and BBR look for it over several round trips. */
const FOUND_SAMPLES = 6;
/** What has found its rate below this part of the plan's is held back by something that holds back each connection. */
const PLANNED_PART = 0.6;
/** Over so many samples, a second, a connection makes up for the losses with which its start ends. */
const FALLEN_SAMPLES = 20;
/**
 * What brings less than this part of its best rate for so long has fallen: CUBIC keeps 0.7 of its window at a
 * loss (RFC 9438 section 4.6).
 */
const FALLEN_PART = 0.6;

interface LaneGrowthInit {
  readonly planned: number;
  /** Of the plan's chain. */
  readonly promise: ChainPromise | undefined;
  readonly nowMs: () => number;
}

/**
 * How many of the planned lanes a transfer uses: all, or the first one alone for as long as it needs no
 * others. What several lanes bring comes out of turn, so the client waits, and on a line that is full from
 * the beginning it never makes up for that. So the first lane begins alone where the plan does not say that
 * losses would hold it back; the others come when it has found its rate and that is not enough, when its rate
 * falls, and when it breaks.
 */
export class LaneGrowth {
  readonly #init: LaneGrowthInit;
  #isAlone: boolean;
  #sinceMs: number;
  #sampleBytes = 0;
  /** Of the last samples, the newest last, in bytes per ms. */
  #rates: number[] = [];
  #best = 0;
  #stalled = 0;

  constructor(init: LaneGrowthInit) {
    this.#init = init;
    this.#isAlone = init.planned > 1 && !needsLanes(init.promise);
    this.#sinceMs = init.nowMs();
  }

  /** Whether all lanes but the first wait. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  /** The first lane needs the others: it broke, or its origin has to be asked singly. */
  useAll(): void {
    this.#isAlone = false;
  }

  /** Bytes wait for the client: it holds the lane up, as it would hold up all. */
  noteWaiting(): void {
    this.#restart();
    this.#rates = [];
    this.#stalled = 0;
  }

  /** Counts bytes that have come. Gives whether all lanes are to be used from now on. */
  noteBytes(sizeBytes: number): boolean {
    this.#sampleBytes += sizeBytes;
    const elapsedMs = this.#init.nowMs() - this.#sinceMs;
    if (!this.#isAlone || elapsedMs < SAMPLE_MS) return false;
    const rate = this.#sampleBytes / elapsedMs;
    // Where nothing has come for a while, that is as many samples.
    const samples = Math.min(FALLEN_SAMPLES, Math.round(elapsedMs / SAMPLE_MS));
    this.#rates = [...this.#rates, ...Array.from({ length: samples }, () => rate)].slice(-FALLEN_SAMPLES);
    this.#restart();
    if (this.#rates.length >= SAMPLES) this.#judge(samples);
    return !this.#isAlone;
  }

  #judge(samples: number): void {
    const rate = meanOf(this.#rates.slice(-SAMPLES));
    this.#stalled = rate > GROWING * this.#best ? 0 : this.#stalled + samples;
    this.#best = Math.max(this.#best, rate);
    const plannedBytesPerMs = bytesPerMsOf(this.#init.promise?.rateBps ?? 0);
    const isLittle = this.#stalled >= FOUND_SAMPLES && this.#best < PLANNED_PART * plannedBytesPerMs;
    // What waited in this machine comes faster than any line: nothing is measured against that.
    const wontBytesPerMs = Math.min(this.#best, plannedBytesPerMs);
    const hasFallen = this.#stalled >= FALLEN_SAMPLES && meanOf(this.#rates) < FALLEN_PART * wontBytesPerMs;
    if (isLittle || hasFallen) this.#isAlone = false;
  }

  #restart(): void {
    this.#sampleBytes = 0;
    this.#sinceMs = this.#init.nowMs();
  }
}

/** Whether a plan has lanes because losses hold each connection back, as far as it says why. */
export function needsLanes(promise: ChainPromise | undefined): boolean {
  return !promise || oneLaneBps(promise) < ENOUGH_PART * promise.rateBps;
}

/** What losses leave one connection over a chain, bits per second; no more than the chain brings. */
export function oneLaneBps({ rateBps, worstRttMs, worstLossRate }: ChainPromise): number {
  const { response } = CONGESTION_CONTROLS[USUAL_CONGESTION_CONTROL];
  if (worstLossRate <= 0 || response.holds === 'rate') return rateBps;
  const rttSeconds = worstRttMs / 1000;
  return Math.min(rateBps, (response.segments(worstLossRate, rttSeconds) * SEGMENT_BYTES * 8) / rttSeconds);
}

function meanOf(rates: readonly number[]): number {
  return rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
}
