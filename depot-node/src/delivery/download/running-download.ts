import {
  type Chain,
  isSameChain,
  isSigned,
  type LeftChain,
  type LonghaulError,
  originHref,
} from '@longhaul/shared';
import type { KnownPrefix } from '../../digests/running-digest.ts';
import { LegSummaries } from '../../estimates/leg-summaries.ts';
import type { Job } from '../../jobs/job-memory.ts';
import type { AskedBlock, LaneView } from '../../lanes/lane-transfer.ts';
import type { AskedTimes } from '../../origin/conversation.ts';
import type { Part, Representation } from '../../origin/representation.ts';
import type { BreakReason } from '../../plane/events.ts';
import type { FetchedAnswer } from '../../routes/fetcher.ts';
import { RouteBook } from '../../routes/route-book.ts';
import type { Target } from '../../tickets/target.ts';
import type { ClientBody } from './client-body.ts';
import type { GivenFile } from './wrong-files.ts';

/** How a download ended, and over which chain its last bytes came. */
export type DownloadEnd =
  | { readonly outcome: 'complete'; readonly chain: Chain; readonly sha256: string | undefined }
  | { readonly outcome: 'client-left'; readonly chain: Chain }
  | { readonly outcome: 'upstream-broke'; readonly chain: Chain; readonly failure: LonghaulError };

/** What a download is doing. */
export type DownloadState =
  /** The origin has not answered yet. */
  | { readonly is: 'opening' }
  /** A first block has been answered; lanes fetch it and the rest. */
  | {
      readonly is: 'laning';
      readonly answer: FetchedAnswer;
      readonly firstBlock: AskedBlock & AskedTimes;
    }
  /** One answer is being passed on, from behind what it brings again of the client's bytes. */
  | { readonly is: 'sending'; readonly answer: FetchedAnswer; readonly prefix: KnownPrefix | undefined }
  /** The origin gave less at once than it was asked for; the rest is asked for over the same way. */
  | { readonly is: 'asking-on'; readonly answer: FetchedAnswer }
  /** A way broke; another one is looked for. */
  | { readonly is: 'repairing'; readonly broken: FetchedAnswer; readonly reason: BreakReason }
  /** Everything has come; the client's kernel has not taken all of it. */
  | { readonly is: 'finishing'; readonly chain: Chain }
  | { readonly is: 'ended'; readonly end: DownloadEnd };

interface RunningDownloadInit {
  readonly ownId: string;
  readonly job: Job;
  readonly target: Target;
  readonly client: ClientBody;
  readonly startedMs: number;
  readonly stop: AbortSignal;
  /** Of all that has gone to its client meanwhile, its share, from 0 to 1. */
  readonly ownShare: () => number;
  /** Takes note of what the client has all of, and whether that is not what the origin states. */
  readonly noteGiven: (given: GivenFile, isWrong: boolean) => void;
}

/** A download that this depot serves as entry depot: what it is, over what it comes, how far it is. */
export class RunningDownload {
  readonly job: Job;
  /** Where the client's request led first; redirects may have led on. */
  readonly target: Target;
  readonly client: ClientBody;
  readonly startedMs: number;
  /** Aborts, with the `LonghaulError` that says why, when this depot serves it no further. */
  readonly stop: AbortSignal;
  readonly ownShare: () => number;
  /** To be told before its client is, where that is wrong: he may come back for the rest at once. */
  readonly noteGiven: (given: GivenFile, isWrong: boolean) => void;
  /**
   * Whether its address may give nothing any more before it has ended: it is signed, often for minutes only,
   * and no other one has led there that could be asked for a new one. What has begun to come then comes to
   * its end; each further question may be refused.
   */
  readonly mayLapse: boolean;
  /** The routes that it may take. */
  readonly book: RouteBook;
  state: DownloadState = { is: 'opening' };
  /** Whether its client has come back for what it had been given here: it has lost the connection. */
  isLost = false;
  /** Which part of the file the client gets, and of which version; `undefined` where the origin did not say. */
  part: Part | undefined;
  representation: Representation | undefined;
  /** How long the first answer was waited for; `undefined` where this depot has not asked for it. */
  waitedMs: number | undefined;
  /** Connections to the origin that fetch blocks; none where one connection fetches all. */
  lanes: readonly LaneView[] = [];
  /** What becomes of its connections. */
  readonly legs = new LegSummaries();
  #left: LeftChain | undefined;

  constructor({ ownId, job, target, client, startedMs, stop, ownShare, noteGiven }: RunningDownloadInit) {
    this.job = job;
    this.target = target;
    this.client = client;
    this.startedMs = startedMs;
    this.stop = stop;
    this.ownShare = ownShare;
    this.noteGiven = noteGiven;
    this.mayLapse = isSigned(originHref(target.url));
    this.book = new RouteBook(ownId, target.ticket);
  }

  /** The chain that it began over, where it has left that for being slow. */
  get left(): LeftChain | undefined {
    return this.#left;
  }

  /**
   * Notes that a chain fails it that brings so little, in bits per second; over lanes more bytes have come
   * than the client has. What a later one than the first has brought is not known.
   */
  noteSlow(chain: Chain, meanBps: number, nowMs: number, comeBytes = 0): void {
    const bytes = Math.max(comeBytes, this.client.bytes);
    const seconds = (nowMs - this.startedMs) / 1000;
    if (!this.book.hasFailures) this.#left = { chain: [...chain], bytes, seconds, meanBps };
    this.book.noteFailure(chain);
  }

  /** Notes that a chain that had failed it is kept after all. */
  noteKept(chain: Chain): void {
    if (this.#left && isSameChain(this.#left.chain, chain)) this.#left = undefined;
    this.book.forgive(chain);
  }

  /** The chain that it comes over, or did last, this depot first. */
  get chain(): Chain {
    const { state } = this;
    if (state.is === 'opening') return this.book.plan.chain;
    if (state.is === 'repairing') return state.broken.route.chain;
    if (state.is === 'ended') return state.end.chain;
    return state.is === 'finishing' ? state.chain : state.answer.route.chain;
  }

  /** The first byte of the file that the client has not. */
  get nextByte(): number {
    return this.missing?.startByte ?? this.client.bytes;
  }

  /** Whether its client has been given the bytes of a part of the file up to this one. */
  hasGiven(toByte: number): boolean {
    return this.part !== undefined && this.part.startByte <= toByte && toByte <= this.nextByte;
  }

  /** What has not come yet; `undefined` when the answer did not say where it ends. */
  get missing(): Part | undefined {
    const { part } = this;
    return part && { startByte: part.startByte + this.client.bytes, endByte: part.endByte };
  }

  /** Whether everything has come, as far as it is known where that ends. */
  get isWhole(): boolean {
    const { missing } = this;
    return missing === undefined || missing.startByte >= missing.endByte;
  }

  /** Whether it is known where everything ends, and it has come: its last byte may have used the ticket up. */
  get hasAll(): boolean {
    return this.missing !== undefined && this.isWhole;
  }
}

/** The downloads that this depot serves as entry depot now. */
export class RunningDownloads {
  readonly #downloads = new Set<RunningDownload>();

  /** Takes a download in; call the result when it has ended. */
  add(download: RunningDownload): () => void {
    this.#downloads.add(download);
    return () => this.#downloads.delete(download);
  }

  /**
   * How many connections the client of a download has beside it, where it asks for all from this byte on. One
   * that has given all before that is lost to it: who changes networks tells nobody, and the end of the old
   * connection may be noticed here only after many minutes.
   */
  connectionsBeside(download: RunningDownload, startByte: number): number {
    if (download.job.active === 1) return 0;
    const others = this.list().filter((other) => other !== download && other.job === download.job);
    for (const other of others) other.isLost ||= startByte > 0 && other.hasGiven(startByte);
    const lost = others.filter(({ isLost }) => isLost);
    return download.job.active - 1 - lost.length;
  }

  /** In the order in which they began. */
  list(): readonly RunningDownload[] {
    return [...this.#downloads];
  }
}
