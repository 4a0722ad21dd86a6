/** How packets get lost on one direction of a link. */
export type LossModel =
  | { readonly kind: 'none' }
  /** Each packet by itself, with this probability. */
  | { readonly kind: 'independent'; readonly rate: number }
  /**
   * Bursts (Gilbert, BSTJ 39(5), 1960; Elliott, BSTJ 42(5), 1963): a Markov chain with one step per packet between a
   * good and a bad state, each with its own loss probability.
   */
  | {
      readonly kind: 'gilbert-elliott';
      readonly toBad: number;
      readonly toGood: number;
      readonly lossInGood: number;
      readonly lossInBad: number;
    };

/** The queue before the transmitter, drop-tail. */
export type QueueLimit = { readonly bytes: number } | { readonly packets: number };

/** One direction of a link. Everything can be changed while traffic flows. */
export interface DirectionSettings {
  /** Propagation delay, one way. */
  readonly delayMs: number;
  /** Uniform between 0 and this, on top of the delay; packets never overtake each other. */
  readonly jitterMs: number;
  readonly loss: LossModel;
  /** Line rate, with {@link FRAME_OVERHEAD_BYTES} counted for each packet; Infinity means no transmitter. */
  readonly rateBps: number;
  readonly queue: QueueLimit;
  /** A cut link loses everything, also what is under way. */
  readonly isCut: boolean;
}

/** Both directions: `forward` is from the first end to the second. */
export interface LinkSettings {
  readonly forward: DirectionSettings;
  readonly backward: DirectionSettings;
}

export type LinkDirection = keyof LinkSettings;

/** An Ethernet header goes with every packet, so a link of 100 Mbit/s carries 95.6 Mbit/s of payload at MTU 1500. */
export const FRAME_OVERHEAD_BYTES = 14;
