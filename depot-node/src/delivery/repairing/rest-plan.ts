import { LonghaulError, type OriginUrl, ok, type Result, refuse } from '@longhaul/shared';
import { type KnownPrefix, SkippedPrefix } from '../../digests/running-digest.ts';
import {
  AddressRefused,
  busyOrigin,
  isNamedOtherwise,
  isSameAnswer,
  isWholeOf,
  joinedPart,
} from '../../origin/joined-part.ts';
import {
  type AnswerHead,
  endsWithConnection,
  headersForBlock,
  headersForPart,
  type Part,
  type Representation,
  readPart,
  showsRanges,
} from '../../origin/representation.ts';
import type { RequestFor } from '../../routes/fetcher.ts';
import type { RunningDownload } from '../download/running-download.ts';

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
  /** The first block of the rest, where an address is asked for that and not for all of it. */
  readonly blockAt: (url: OriginUrl) => Part | undefined;
  readonly limits: AgainLimits;
}

/** The rest, as it is asked for by range. */
interface RestByRange {
  readonly representation: Representation;
  readonly part: Part;
}

/** Answers to a request for a part that say something of ranges. */
const OF_RANGES = new Set([206, 412, 416]);
/** Answers to a request for a part of an origin that may give the whole. */
const OF_WHOLE_ONLY = new Set([206, 400, 403, 405, 406, 416, 501]);
/** Bodies that began with other bytes; servers behind one name may differ. */
const MOST_OTHERS = 3;

/**
 * How the rest of a download is asked for when its way has broken. By range, where the file's version is
 * known; where the origin gives no part, the whole of that version. Else the whole again, where the digest of
 * what the client has proves that it begins with that.
 */
export class RestPlan {
  readonly #init: RestPlanInit;
  #refusesRanges = false;
  /**
   * Whether the origin has shown that it gives parts: where it has not, or has refused one, one that is asked
   * for may bring the whole, or nothing.
   */
  #showsRanges: boolean;
  /** Who was asked for a part beside a way that stood has given the whole, and may have made it for that. */
  #givesWhole = false;
  /** The next request is for the whole of the version that was begun: the last one was for a part, and refused. */
  #asksWhole = false;
  /** The last question was for a block of the rest. */
  #asksBlock = false;
  /** Such a question was refused: from then on all of the rest is asked for. */
  #refusesBlocks = false;
  #metOtherName = false;
  #times = 0;
  #againBytes = 0;
  #others = 0;
  #endsWithConnection: boolean;
  #mayCountConnections = false;
  #hasUnsureEnd = false;

  constructor(init: RestPlanInit) {
    this.#init = init;
    this.#showsRanges = showsRanges(init.head);
    this.#endsWithConnection = endsWithConnection(init.head, 'GET');
  }

  /** Whether the rest can be had at all. */
  get isPossible(): boolean {
    return this.#byRange !== undefined || this.#mayFetchAgain;
  }

  /** Whether the rest may be had without what comes before it, as far as is known. */
  get mayComeAlone(): boolean {
    return this.#byRange !== undefined && !this.#givesWhole;
  }

  /** Whether so many bytes may come again that the client has. */
  mayComeAgain(bytes: number): boolean {
    const { limits } = this.#init;
    if (!limits.mayFetchAgain || this.#times >= limits.maxTimes) return false;
    return bytes <= limits.perBreakBytes && this.#againBytes + bytes <= limits.perDownloadBytes;
  }

  /** Whether another way brings the rest and nothing else, so that one may be left which only pauses or is slow. */
  get isCheap(): boolean {
    return this.#showsRanges && this.#againBytes === 0 && this.#byRange !== undefined;
  }

  /** Whether what was judged last seems to be the same file, from a server that calls its version otherwise. */
  get metOtherName(): boolean {
    return this.#metOtherName;
  }

  /** Whether only a way without a tunnel will do: the end of the body is that of its connection. */
  get needsDirectWay(): boolean {
    return this.#endsWithConnection;
  }

  /**
   * Whether an answer that came through a tunnel shows where its body ends: by the end of its connection a
   * depot that dies would end it, too. Where it does not, only direct ways will do from now on. Where an
   * error's page ends does not matter.
   */
  showsItsEnd(answer: AnswerHead): boolean {
    const { download, head } = this.#init;
    const mayGoOn = answer.statusCode === head.statusCode && download.missing === undefined;
    if (!mayGoOn || !endsWithConnection(answer, 'GET')) return true;
    this.#endsWithConnection = true;
    return false;
  }

  /** What to ask the origin. */
  get request(): RequestFor {
    const range = this.#byRange;
    const { ownRequest, plainRequest } = this.#init;
    if (range && this.#asksWhole) return plainRequest;
    return range ? this.#requestByRange(range) : ownRequest;
  }

  /** What to ask the origin where nothing but the part will do. */
  get requestForPart(): RequestFor {
    const range = this.#byRange;
    return range ? requestForPart(this.#init.plainRequest, range.representation, range.part) : this.request;
  }

  /**
   * Whether an answer to that is the part. Refuses as `judge` does; where it is the whole, no part is asked
   * for beside a way any more.
   */
  judgePart(answer: AnswerHead): Result<undefined> {
    const range = this.#byRange;
    this.#noteName(answer);
    const joined = range && joinedPart(answer, range.representation, range.part);
    if (joined?.ok) {
      this.noteRanges();
      return ok(undefined);
    }
    const isWhole = range !== undefined && isWholeOf(answer, range.representation);
    this.#givesWhole ||= isWhole;
    return joined && !isWhole ? joined : refuse('origin-bad-answer', 'the origin gives no parts');
  }

  /**
   * Whether an answer goes on with the download, and what of the client's bytes it brings again first. Refuses with an
   * `OriginBusy`, `origin-changed` or `origin-bad-answer`.
   */
  judge(answer: AnswerHead): Result<KnownPrefix | undefined> {
    const range = this.#byRange;
    this.#noteName(answer);
    const busy = busyOrigin(answer);
    if (busy) return { ok: false, error: busy };
    const joined = range && joinedPart(answer, range.representation, range.part);
    if (joined?.ok) {
      this.noteRanges();
      return ok(undefined);
    }
    if (this.#mayFetchAgain && this.#mayBeAgain(answer)) {
      this.#times += 1;
      return ok(this.#init.download.client.given?.prefix());
    }
    const mayBeWhole = range !== undefined && this.mayComeAgain(range.part.startByte) && this.#endsWithFile;
    if (mayBeWhole && isWholeOf(answer, range.representation)) {
      this.#times += 1;
      return ok(new SkippedPrefix(range.part.startByte));
    }
    const refusesBlock = this.#asksBlock && joined?.error instanceof AddressRefused;
    this.#refusesBlocks ||= refusesBlock;
    const { statusCode } = answer;
    this.#asksWhole =
      mayBeWhole && !refusesBlock && !this.#asksWhole && !this.#metOtherName && OF_WHOLE_ONLY.has(statusCode);
    if (!joined) {
      const code = statusCode === this.#init.head.statusCode ? 'origin-changed' : 'origin-bad-answer';
      return refuse(code, `the origin answered ${statusCode}`);
    }
    // Ranges that bring another version, or none at all, are not asked for again where the whole will do.
    if (OF_RANGES.has(statusCode) && this.#mayFetchAgain) this.#refusesRanges = true;
    return joined;
  }

  /** Notes that the origin has given a part that was asked for. */
  noteRanges(): void {
    this.#showsRanges = true;
    this.#givesWhole = false;
    this.#mayCountConnections = false;
  }

  /**
   * Notes that the origin has refused a part, whatever it says of ranges: it may take no second question, or
   * count them; or connections, where it was busy.
   */
  noteRefusal(isBusy = false): void {
    this.#showsRanges = false;
    this.#mayCountConnections ||= isBusy;
  }

  /** Whether the origin may refuse others because of the connection that stands. */
  get mayCountConnections(): boolean {
    return this.#mayCountConnections;
  }

  /** Counts what has come again. */
  noteAgain(bytes: number): void {
    this.#againBytes += bytes;
  }

  /** Notes that a body that came again brought something behind what the client had. */
  noteNew(): void {
    this.#times = 0;
  }

  /** Notes that all may have come, and that the origin shows no end of it: another answer would end in the same way. */
  noteUnsureEnd(): void {
    this.#hasUnsureEnd = true;
  }

  /** Whether nothing will show that all has come. */
  get hasUnsureEnd(): boolean {
    return this.#hasUnsureEnd;
  }

  /**
   * Notes that a body began with other bytes than the client has; throws `origin-changed` when there were
   * enough of them.
   */
  noteOther(): void {
    this.#others += 1;
    if (this.#others >= MOST_OTHERS)
      throw new LonghaulError('origin-changed', { detail: 'its first bytes are others now' });
  }

  #requestByRange({ representation, part }: RestByRange): RequestFor {
    const { blockAt, plainRequest } = this.#init;
    return (url) => {
      const block = this.#refusesBlocks ? undefined : blockAt(url);
      this.#asksBlock = block !== undefined;
      const asked = plainRequest(url);
      const headers = block ? headersForBlock(representation, block) : headersForPart(representation, part);
      return { ...asked, headers: { ...asked.headers, ...headers } };
    };
  }

  #noteName(answer: AnswerHead): void {
    const range = this.#byRange;
    this.#metOtherName =
      range !== undefined && isNamedOtherwise(this.#init.head, answer, range.representation.sizeBytes);
  }

  get #byRange(): RestByRange | undefined {
    const { missing: part, representation } = this.#init.download;
    return this.#refusesRanges || !part || !representation ? undefined : { part, representation };
  }

  /** Whether the whole brings everything that the client wants and nothing behind it. */
  get #endsWithFile(): boolean {
    const { part, representation } = this.#init.download;
    return part !== undefined && part.endByte === representation?.sizeBytes;
  }

  get #mayFetchAgain(): boolean {
    const { bytes, given } = this.#init.download.client;
    return this.mayComeAgain(bytes) && (bytes === 0 || given?.bytes === bytes);
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
