import type { Result } from '@longhaul/shared';

/** Characters of one text: with their UTF-8 they stay below the 1 MB that NATS takes for a message by default. */
export const MOST_TEXT_CHARS = 262_144;
/** What such a text has at most in UTF-8. */
export const MOST_TEXT_BYTES = 3 * MOST_TEXT_CHARS;

/**
 * What masters tell and ask each other over. It carries texts and knows nothing of what they mean; what is
 * lost, late or out of order is repaired by whoever uses it. Nothing here waits for another master but
 * `request`.
 */
export interface StateBus {
  /** Who this master is to the others: the source of its facts. */
  readonly name: string;
  /** Tells all others that are there; returns at once. */
  publish(text: string): void;
  /** Calls `take` with what others tell, and with who it was, as the bus has made sure. */
  subscribe(take: (text: string, from: string) => void): void;
  /**
   * Asks one of the others, whichever, and calls `take` with each part of its answer in order. Resolves when
   * the answer is complete; `bus-no-answer` when nobody gives one in time, or it breaks off.
   */
  request(text: string, take: (part: string, from: string) => void): Promise<Result<void>>;
  /** Answers what others ask, part by part; the loop is free between two parts. */
  answer(reply: (text: string, from: string) => Iterable<string>): void;
  /** Calls `reached` each time that others may be reached again which were not before. */
  onReached(reached: () => void): void;
  status(): BusStatus;
  /** Tells and hears nothing any more. */
  close(): Promise<void>;
}

export interface BusStatus {
  readonly kind: string;
  /** Whether nobody else can be there: then nothing need be told. */
  readonly isAlone: boolean;
  readonly isConnected: boolean;
}
