import type { TicketClaims } from '@longhaul/shared';
import { FairMap } from '@longhaul/shared/service';

/** How long a wrong file is remembered of its job: as long as tickets live, by whose addresses browsers resume. */
const JOB_REMEMBERED_MS = 604_800_000;
/** How long of its client, whatever the ticket: who has left a part of a file on disk for longer is likely to begin anew, and what he begins is to be resumable again. */
const CLIENT_REMEMBERED_MS = 86_400_000;
/** What is remembered at once, fairly shared by client networks; two of one download. */
const MOST_REMEMBERED = 2_000;

/** Whose file it is. */
interface WrongFile {
  readonly claims: Pick<TicketClaims, 'jobId' | 'urlHash'>;
  /** The client: its address, or /64, and its network. */
  readonly client: { readonly address: string; readonly network: string };
}

/**
 * Which clients have the beginning of a file that was not what its origin states. To them its end was cut off by a broken connection, and they come back for that: by themselves in the same job,
 * from another address of theirs perhaps, or when they are called again, by another ticket. Of a part no digest can be checked, so that the wrong file would be complete. A whole one that is right takes nothing back: what is on
 * disk of the other one stays what it is.
 */
export class WrongFiles {
  readonly #nowMs: () => number;
  /** Until when it counts, by job, and by client and file. */
  readonly #untilMs: FairMap<number>;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#untilMs = new FairMap(MOST_REMEMBERED, undefined, (untilMs) => untilMs <= this.#nowMs());
  }

  /** Whether a client may have a wrong beginning of this file. */
  has(file: WrongFile): boolean {
    return [jobOf(file), clientOf(file)].some((key) => (this.#untilMs.get(key) ?? 0) > this.#nowMs());
  }

  /** Takes note that a client has one. */
  note(file: WrongFile): void {
    const { network } = file.client;
    this.#untilMs.set(jobOf(file), this.#nowMs() + JOB_REMEMBERED_MS, network);
    this.#untilMs.set(clientOf(file), this.#nowMs() + CLIENT_REMEMBERED_MS, network);
  }
}

function jobOf({ claims: { jobId } }: WrongFile): string {
  return `job ${jobId}`;
}

function clientOf({ claims: { urlHash }, client: { address } }: WrongFile): string {
  return `client ${address} ${urlHash}`;
}
