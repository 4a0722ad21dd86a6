import type { Network } from '../network/network.ts';

/**
 * No transfer of the lab takes this long: one that does is cut, also where none shall be, so that an
 * experiment always ends.
 */
export const LONGEST_TRANSFER_SECONDS = 1800;

/** A file that a client fetches, and how long it may take. */
export interface TransferRequest {
  readonly network: Network;
  /** The site where the client runs. */
  readonly site: string;
  /** What the client is given; it may answer with redirects. */
  readonly url: string;
  /** The bytes that have to arrive. */
  readonly expected: Buffer;
  /** Ended after so many seconds. */
  readonly cutSeconds: number;
  /** Authority for https. */
  readonly caFile?: string;
}

export interface TransferOutcome {
  readonly seconds: number;
  readonly receivedBytes: number;
  readonly ttfbMs: number | null;
  /** Until the request for the file itself was sent; null where the program cannot say. */
  readonly setUpMs: number | null;
  readonly isCut: boolean;
  /** Whether everything that arrived is right, and the whole file arrived unless it was cut. */
  readonly isRight: boolean;
  /** The URL that gave the file, after redirects; null where the program cannot say. */
  readonly finalUrl: string | null;
  /** What the program said when it failed, and it was not for the cut. */
  readonly error?: string;
}

export type Transfer = (request: TransferRequest) => Promise<TransferOutcome>;
