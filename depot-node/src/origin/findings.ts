import { FairMap } from '@longhaul/shared/service';
import { type Between, isExpected, suspectsOf } from './suspects.ts';

/** What has been met. */
interface Finding {
  readonly atMs: number;
  /** The client network that met it last. */
  readonly network: string;
  /** Clients of another network have met it as well. */
  readonly isAgreed: boolean;
  readonly suspects: Between;
}

interface FindingsInit {
  readonly nowMs: () => number;
  /** How many are remembered, fairly shared by domains, and for how long. */
  readonly most: number;
  readonly lifeMs: number;
}

/**
 * Where clients have met something of one kind, lately. What one client network has met counts for others
 * only when a second one has met it too: who asks for a file that nobody has, or with conditions of his own,
 * gets odd answers from good origins. What was met over one depot alone, which may keep answers back, counts
 * over that depot alone.
 */
export class Findings {
  readonly #init: FindingsInit;
  readonly #byPlace: FairMap<Finding>;

  constructor(init: FindingsInit) {
    this.#init = init;
    this.#byPlace = new FairMap(init.most, undefined, (finding) => !this.#isLately(finding));
  }

  /** Whether it is to be expected there, over these depots for clients of this network. */
  has(place: string, network: string, between: Between): boolean {
    const finding = this.#latest(place);
    const isKnown = finding !== undefined && (finding.isAgreed || finding.network === network);
    return isKnown && isExpected(finding.suspects, between);
  }

  /**
   * Takes note that a client of this network has met it at a place of this domain; `between`: depots that may
   * have caused it. Gives whether it counts for everybody now, over whatever depots.
   */
  note(place: string, domain: string, network: string, between: Between): boolean {
    const before = this.#latest(place);
    const isAgreed = before !== undefined && (before.isAgreed || before.network !== network);
    const suspects = suspectsOf(before?.suspects, between);
    this.#byPlace.set(place, { atMs: this.#init.nowMs(), network, isAgreed, suspects }, domain);
    return isAgreed && suspects.length === 0;
  }

  /** Takes note of a place where it was not met any more. */
  forget(place: string): void {
    this.#byPlace.delete(place);
  }

  #latest(place: string): Finding | undefined {
    const finding = this.#byPlace.get(place);
    return finding && this.#isLately(finding) ? finding : undefined;
  }

  #isLately({ atMs }: Finding): boolean {
    return this.#init.nowMs() - atMs < this.#init.lifeMs;
  }
}
