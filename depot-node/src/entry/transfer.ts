import { type Chain, LonghaulError } from '@longhaul/shared';
import type { LanesEnd } from '../lanes/lane-transfer.ts';
import type { BodyEnd, ChoosingRelay } from '../relay/relay-plane.ts';
import type { WatchedLeg } from '../sockets/leg-sampler.ts';
import type { ClientBody } from './client-body.ts';
import type { FetchedAnswer, RequestFor } from './origin-fetch.ts';
import type { Repairer } from './repair.ts';
import type { Part, Representation } from './representation.ts';
import type { RouteBook } from './route-book.ts';
import { sendPart } from './send-part.ts';
import { type SlowOptions, watchForSlowness } from './slow-watch.ts';
import type { Target } from './target.ts';

/** Why a way was given up in the middle of a body. */
export type BreakReason = 'ended' | 'reset' | 'silent' | 'slow';

/** One repair of a transfer, for logs and metrics. */
export interface Failover {
  readonly reason: BreakReason;
  readonly from: Chain;
  /** The chain that carries the rest; `undefined` when none was found. */
  readonly to: Chain | undefined;
  /** Bytes that the client had. */
  readonly atByte: number;
  readonly seconds: number;
}

/** What a transfer sends: of which version, where that is known, and which part. */
export interface TransferContent {
  readonly representation: Representation | undefined;
  readonly part: Part | undefined;
}

type OverLanes = (first: FetchedAnswer) => Promise<LanesEnd>;

export interface TransferOptions {
  /** Fetches all over several lanes, beginning with a first answer that is only a block; left out where it is not. */
  readonly lanes: OverLanes | undefined;
  readonly relay: ChoosingRelay;
  readonly repairer: Repairer;
  readonly book: RouteBook;
  /** Where the client's request led first. */
  readonly firstTarget: Target;
  /** A GET without the client's conditions. */
  readonly requestFor: RequestFor;
  /** Silence after which a way is given up when the rest can come over another one. */
  readonly failoverSilenceMs: number;
  /** The same where it cannot. */
  readonly silenceMs: number;
  readonly stallMs: number;
  readonly slow: SlowOptions;
  /** The depot's own shutdown. */
  readonly signal: AbortSignal;
  /** Watches the connections that an answer uses, until it is stopped. */
  readonly watchLeg: (fetched: FetchedAnswer) => WatchedLeg;
  readonly isClientBehind: () => boolean;
  readonly onFailover: (failover: Failover) => void;
  readonly nowMs: () => number;
}

export type TransferEnd =
  | { readonly outcome: 'complete'; readonly chain: Chain; readonly sha256: string | undefined }
  | { readonly outcome: 'client-left'; readonly chain: Chain }
  | { readonly outcome: 'upstream-broke'; readonly chain: Chain; readonly failure: LonghaulError };

/** What a transfer is doing. */
type State =
  /** A first block has been answered; lanes fetch it and the rest. */
  | {
      readonly is: 'laning';
      readonly answer: FetchedAnswer;
      readonly lanes: OverLanes;
    }
  | { readonly is: 'sending'; readonly answer: FetchedAnswer }
  | { readonly is: 'repairing'; readonly broken: FetchedAnswer; readonly reason: BreakReason }
  | { readonly is: 'finishing'; readonly chain: Chain }
  | { readonly is: 'ended'; readonly end: TransferEnd };

const REASONS: Readonly<Partial<Record<BodyEnd, BreakReason>>> = {
  'source-ended': 'ended',
  'source-broke': 'reset',
  'source-silent': 'silent',
};

/**
 * Sends the body of one answer to a client, over as many ways as it takes. When a way breaks, goes silent or is far too
 * slow, the rest is asked for over another one and goes on at the exact next byte, of the same version of the file; where
 * that cannot be proved the client's connection is reset. Never rejects.
 */
export class Transfer {
  readonly #client: ClientBody;
  readonly #options: TransferOptions;
  readonly #content: TransferContent;
  /** Ways in a row that brought nothing: each gets twice the time of the one before. */
  #fruitless = 0;

  constructor(content: TransferContent, client: ClientBody, options: TransferOptions) {
    this.#content = content;
    this.#client = client;
    this.#options = options;
  }

  async run(first: FetchedAnswer): Promise<TransferEnd> {
    const { lanes } = this.#options;
    let state: State = lanes ? { is: 'laning', answer: first, lanes } : { is: 'sending', answer: first };
    for (;;) {
      if (state.is === 'ended') break;
      if (state.is === 'laning') state = await this.#lane(state.answer, state.lanes);
      else if (state.is === 'sending') state = await this.#send(state.answer);
      else if (state.is === 'repairing') state = await this.#repair(state.broken, state.reason);
      else state = await this.#finish(state.chain);
    }
    if (state.end.outcome !== 'complete') this.#client.reset();
    return state.end;
  }

  async #send(answer: FetchedAnswer): Promise<State> {
    const { relay, signal, stallMs } = this.#options;
    const { chain } = answer.choice;
    const client = this.#client;
    const before = client.bytes;
    const missing = this.#missing();
    const slow = new AbortController();
    const leg = this.#options.watchLeg(answer);
    const stopWatch = this.#watchForSlowness(answer, slow);
    const end = await sendPart(answer, client, {
      relay,
      signal: AbortSignal.any([signal, slow.signal]),
      silenceMs: this.#silenceMs(),
      stallMs,
      sizeBytes: missing && missing.endByte - missing.startByte,
    });
    stopWatch();
    leg.stop();
    this.#fruitless = client.bytes > before ? 0 : this.#fruitless + 1;
    if (end === 'complete') return { is: 'finishing', chain };
    if (end === 'sink-broke' || end === 'sink-stalled')
      return { is: 'ended', end: { outcome: 'client-left', chain } };
    if (end === 'cancelled' && !slow.signal.aborted) return broke(chain, new LonghaulError('shutting-down'));
    return { is: 'repairing', broken: answer, reason: REASONS[end] ?? 'slow' };
  }

  async #lane(first: FetchedAnswer, lanes: OverLanes): Promise<State> {
    const { chain } = first.choice;
    const { outcome, failure } = await lanes(first);
    if (outcome === 'complete') return { is: 'finishing', chain };
    if (outcome === 'client-left') return { is: 'ended', end: { outcome: 'client-left', chain } };
    if (outcome === 'cancelled') return broke(chain, new LonghaulError('shutting-down'));
    if (failure?.code === 'origin-changed') return broke(chain, failure);
    // What lanes could not do one connection may.
    return { is: 'repairing', broken: first, reason: 'reset' };
  }

  async #repair(broken: FetchedAnswer, reason: BreakReason): Promise<State> {
    const { repairer, book, firstTarget, requestFor, signal, onFailover, nowMs } = this.#options;
    const { chain } = broken.choice;
    const { representation } = this.#content;
    const part = this.#missing();
    if (!representation || !part) {
      onFailover({ reason, from: chain, to: undefined, atByte: this.#client.bytes, seconds: 0 });
      return broke(chain, new LonghaulError('origin-not-resumable', { detail: reason }));
    }
    // Everything was there but the end of the message.
    if (part.startByte === part.endByte) return { is: 'finishing', chain };
    book.noteFailure(chain);
    const begunMs = nowMs();
    const told = (to: Chain | undefined) =>
      onFailover({ reason, from: chain, to, atByte: part.startByte, seconds: (nowMs() - begunMs) / 1000 });
    try {
      const answer = await repairer.repair({
        target: broken.target,
        firstTarget,
        representation,
        part,
        requestFor,
        signal: AbortSignal.any([signal, this.#client.left]),
      });
      told(answer.choice.chain);
      return { is: 'sending', answer };
    } catch (failure) {
      if (this.#client.left.aborted) return { is: 'ended', end: { outcome: 'client-left', chain } };
      told(undefined);
      return broke(chain, signal.aborted ? new LonghaulError('shutting-down') : failure);
    }
  }

  async #finish(chain: Chain): Promise<State> {
    try {
      const { state, sha256 } = await this.#client.finish(this.#options.signal);
      if (state === 'ready') return { is: 'ended', end: { outcome: 'complete', chain, sha256 } };
      if (this.#options.signal.aborted) return broke(chain, new LonghaulError('shutting-down'));
      return { is: 'ended', end: { outcome: 'client-left', chain } };
    } catch (failure) {
      return broke(chain, failure);
    }
  }

  /** What has not come yet; `undefined` when the answer did not say where it ends. */
  #missing(): Part | undefined {
    const { part } = this.#content;
    return part && { startByte: part.startByte + this.#client.bytes, endByte: part.endByte };
  }

  /** Whether the rest may come over another way: with no try left, one that pauses is still better than none. */
  get #mayLeave(): boolean {
    return this.#content.representation !== undefined && !this.#options.repairer.isSpent;
  }

  #silenceMs(): number {
    const { failoverSilenceMs, silenceMs } = this.#options;
    return this.#mayLeave
      ? Math.min(Math.max(silenceMs, failoverSilenceMs), failoverSilenceMs * 2 ** this.#fruitless)
      : silenceMs;
  }

  #watchForSlowness({ choice }: FetchedAnswer, slow: AbortController): () => void {
    const { book, slow: options, isClientBehind } = this.#options;
    const { promise } = choice;
    // A way that failed, or was as slow, promises nothing: an origin that is slow itself is not left again and again.
    const alternativeBps = book.bestOtherBps(choice.chain);
    if (!this.#mayLeave || !promise || alternativeBps === 0) return () => undefined;
    return watchForSlowness({
      ...options,
      promisedBps: promise.rateBps,
      alternativeBps,
      bytes: () => this.#client.bytes,
      isClientBehind,
      onSlow: () => slow.abort(),
    });
  }
}

function broke(chain: Chain, thrown: unknown): State {
  const failure = thrown instanceof LonghaulError ? thrown : new LonghaulError('internal', { cause: thrown });
  return { is: 'ended', end: { outcome: 'upstream-broke', chain, failure } };
}
