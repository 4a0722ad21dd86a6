import type { IncomingHttpHeaders } from 'node:http';
import type { TicketClaims } from '@longhaul/shared';
import { FairMap } from '@longhaul/shared/service';
import { isLaterPart, namesVersion } from '../../door/asked-part.ts';
import { namesOtherVersion, namesSameVersion, type Validators } from './version-asked.ts';

/** How long a wrong file is remembered of its job: as long as tickets live, by whose addresses browsers resume. */
const JOB_REMEMBERED_MS = 604_800_000;
/**
 * How long of its client, whatever the ticket: who calls again for the rest does so soon, and behind one
 * address there may be many, who never had a byte of it.
 */
const CLIENT_REMEMBERED_MS = 3_600_000;
/** What is remembered at once, fairly shared by client networks; two of one download. */
const MOST_REMEMBERED = 2_000;

/** Whose file it is. */
interface FileOfClient {
  readonly claims: Pick<TicketClaims, 'jobId' | 'urlHash'>;
  /** The client: its address, or /64, and its network. */
  readonly client: { readonly address: string; readonly network: string };
}

/** What a client was given. */
export interface GivenFile {
  /** What the answer said of its version: by that the client names it. */
  readonly validators: Validators;
  readonly sizeBytes: number;
}

interface Note {
  readonly untilMs: number;
  readonly wrong: GivenFile;
  /** Whether all of another version has been given since: then that is what a client goes on with who names none. */
  isReplaced: boolean;
}

/**
 * Which clients have the beginning of a file that was not what its origin states, the last one of each. To
 * them its end was cut off by a broken connection, and they come back for that: by themselves in the same
 * job, from another address of theirs perhaps, or when they are called again, by another ticket. Of a part no
 * digest can be checked, so that the wrong file would be complete. A whole one of the same version that is
 * right takes nothing back: what is on disk of the other one stays what it is.
 */
export class WrongFiles {
  readonly #nowMs: () => number;
  /** By job, and by client and file. */
  readonly #notes: FairMap<Note>;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#notes = new FairMap(MOST_REMEMBERED, undefined, ({ untilMs }) => untilMs <= this.#nowMs());
  }

  /**
   * What a client may have a wrong beginning of, where that concerns what he asks for: a later part, unless
   * he names another version, or anything from the first byte on.
   */
  find(file: FileOfClient, asked: IncomingHttpHeaders): GivenFile | undefined {
    return this.#of(file).find((note) => concerns(note, asked))?.wrong;
  }

  /** Takes note that a client has one. */
  note(file: FileOfClient, wrong: GivenFile): void {
    const { network } = file.client;
    const note = (forMs: number) => ({ untilMs: this.#nowMs() + forMs, wrong, isReplaced: false });
    this.#notes.set(jobOf(file), note(JOB_REMEMBERED_MS), network);
    this.#notes.set(clientOf(file), note(CLIENT_REMEMBERED_MS), network);
  }

  /** Takes note that a client has all of a file, and nothing was wrong with it. */
  noteWhole(file: FileOfClient, { validators }: GivenFile): void {
    for (const note of this.#of(file))
      note.isReplaced ||= !namesSameVersion(note.wrong.validators, validators);
  }

  #of(file: FileOfClient): readonly Note[] {
    const notes = [jobOf(file), clientOf(file)].map((key) => this.#notes.get(key));
    return notes.filter((note) => note !== undefined).filter(({ untilMs }) => untilMs > this.#nowMs());
  }
}

function concerns({ wrong, isReplaced }: Note, asked: IncomingHttpHeaders): boolean {
  if (!isLaterPart(asked)) return true;
  return namesVersion(asked) ? !namesOtherVersion(asked, wrong.validators) : !isReplaced;
}

function jobOf({ claims: { jobId } }: FileOfClient): string {
  return `job ${jobId}`;
}

function clientOf({ claims: { urlHash }, client: { address } }: FileOfClient): string {
  return `client ${address} ${urlHash}`;
}
