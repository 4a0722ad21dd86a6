import { LonghaulError, ok, type Result, refuse } from '@longhaul/shared';
import type { KnownPrefix } from '../digests/running-digest.ts';
import { busyOrigin, isSameAnswer, joinedPart } from '../origin/joined-part.ts';
import {
  type AnswerHead,
  endsWithConnection,
  headersForPart,
  type Part,
  type Representation,
  readPart,
} from '../origin/representation.ts';
import type { RequestFor } from '../routes/fetcher.ts';
import type { RunningDownload } from './running-download.ts';

/** How much may be fetched again of a download whose rest cannot be asked for alone. */
export interface AgainLimits {
  /** Whether anything may. */
  readonly mayFetchAgain: boolean;
  /** Bytes at one break, and of one download. */
  readonly perBreakBytes: number;
  readonly perDownloadBytes: number;
  /** Times in a row that bring nothing new. */
  readonly maxTimes: number;
}

interface RestPlanInit {
  readonly download: RunningDownload;
  /** The head with which the download began, as far as it is the origin's. */
  readonly head: AnswerHead;
  /** The request for the file, without conditions, and the client's own. */
  readonly plainRequest: RequestFor;
  readonly ownRequest: RequestFor;
  readonly limits: AgainLimits;
}

/** Answers to a request for a part that say something of ranges. */
const OF_RANGES = new Set([206, 412, 416]);
/** Bodies that began with other bytes; servers behind one name may differ. */
const MOST_OTHERS = 3;

/**
 * How the rest of a download is asked for when its way has broken. By range, where the file's version is known. Else the
 * whole again, where the digest of what the client has proves that it begins with that.
 */
export class RestPlan {
  readonly #init: RestPlanInit;
  #refusesRanges = false;
  #times = 0;
  #againBytes = 0;
  #others = 0;

  constructor(init: RestPlanInit) {
    this.#init = init;
  }

  /** Whether the rest can be had at all. */
  get isPossible(): boolean {
    return this.#byRange !== undefined || this.#mayFetchAgain;
  }

  /** Whether another way brings the rest and nothing else, so that one may be left which only pauses or is slow. */
  get isCheap(): boolean {
    return this.#againBytes === 0 && this.#byRange !== undefined;
  }

  /** Whether only a way without a tunnel will do: the end of the body is that of its connection. */
  get needsDirectWay(): boolean {
    return endsWithConnection(this.#init.head, 'GET');
  }

  /** What to ask the origin. */
  get request(): RequestFor {
    const range = this.#byRange;
    const { ownRequest, plainRequest } = this.#init;
    return range ? requestForPart(plainRequest, range.representation, range.part) : ownRequest;
  }

  /**
   * Whether an answer goes on with the download, and what of the client's bytes it brings again first. Refuses with an
   * `OriginBusy`, `origin-changed` or `origin-bad-answer`.
   */
  judge(answer: AnswerHead): Result<KnownPrefix | undefined> {
    const busy = busyOrigin(answer);
    if (busy) return { ok: false, error: busy };
    const range = this.#byRange;
    const joined = range && joinedPart(answer, range.representation, range.part);
    if (joined?.ok) return ok(undefined);
    if (this.#mayFetchAgain && this.#mayBeAgain(answer)) {
      this.#times += 1;
      return ok(this.#init.download.client.given?.prefix());
    }
    const { statusCode } = answer;
    if (!joined) {
      const code = statusCode === this.#init.head.statusCode ? 'origin-changed' : 'origin-bad-answer';
      return refuse(code, `the origin answered ${statusCode}`);
    }
    // Ranges that bring another version, or none at all, are not asked for again where the whole will do.
    if (OF_RANGES.has(statusCode) && this.#mayFetchAgain) this.#refusesRanges = true;
    return joined;
  }

  /** Counts what has come again. */
  noteAgain(bytes: number): void {
    this.#againBytes += bytes;
  }

  /** Notes that a body that came again brought something behind what the client had. */
  noteNew(): void {
    this.#times = 0;
  }

  /** Notes that a body began with other bytes than the client has; throws `origin-changed` when there were enough of them. */
  noteOther(): void {
    this.#others += 1;
    if (this.#others >= MOST_OTHERS)
      throw new LonghaulError('origin-changed', { detail: 'its first bytes are others now' });
  }

  get #byRange(): { readonly representation: Representation; readonly part: Part } | undefined {
    const { missing: part, representation } = this.#init.download;
    return this.#refusesRanges || !part || !representation ? undefined : { part, representation };
  }

  get #mayFetchAgain(): boolean {
    const { download, limits } = this.#init;
    const { bytes, given } = download.client;
    if (!limits.mayFetchAgain || this.#times >= limits.maxTimes) return false;
    const totalBytes = this.#againBytes + bytes;
    if (bytes > limits.perBreakBytes || totalBytes > limits.perDownloadBytes) return false;
    return bytes === 0 || given?.bytes === bytes;
  }

  /** Whether an answer may be the one that was begun; its first bytes decide then. */
  #mayBeAgain(answer: AnswerHead): boolean {
    const { download, head } = this.#init;
    const { part } = download;
    const own = readPart(answer);
    const isSamePart = own?.startByte === part?.startByte && own?.endByte === part?.endByte;
    return isSameAnswer(head, answer) && (isSamePart || !own || !part);
  }
}

/** A plain request, for a part of exactly this version. */
export function requestForPart(
  requestFor: RequestFor,
  representation: Representation,
  part: Part,
): RequestFor {
  return (url) => {
    const asked = requestFor(url);
    return { ...asked, headers: { ...asked.headers, ...headersForPart(representation, part) } };
  };
}
