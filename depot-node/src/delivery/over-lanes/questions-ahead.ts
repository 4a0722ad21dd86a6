import type { Duplex } from 'node:stream';
import { formatAuthority } from '@longhaul/shared';
import type { AheadBook } from '../../origin/ahead-book.ts';
import { AheadConnection } from '../../origin/ahead-connection.ts';
import type { Conversation } from '../../origin/conversation.ts';
import type { TakenBody } from '../../origin/exchange.ts';
import { type OpenStream, OriginConnection } from '../../origin/origin-connection.ts';
import type { Part } from '../../origin/representation.ts';
import type { DataPlane } from '../../plane/data-plane.ts';
import type { ReadAnswers } from '../../relay/answer-reader.ts';
import type { HeldCounters } from '../../relay/held-count.ts';
import type { FetchedAnswer } from '../../routes/fetcher.ts';
import { depotsBehind, type Route } from '../../routes/route-book.ts';
import type { RunningDownload } from '../download/running-download.ts';
import { carryByThread } from './carry-by-thread.ts';

export interface QuestionsComponents {
  readonly aheadBook: AheadBook;
  readonly plane: DataPlane;
}

/**
 * How the origin of a download is asked over lanes: several questions ahead, or one at a time where it cannot
 * be asked so.
 */
export class QuestionsAhead {
  readonly #first: FetchedAnswer;
  readonly #download: RunningDownload;
  readonly #plane: DataPlane;
  readonly #book: AheadBook;
  readonly #authority: string;
  readonly #thinksMs: number;
  /** This download has met that the origin, or the way to it, cannot be asked ahead. */
  #isSingly = false;
  /** Reads answers in the relay thread that carries them. */
  #readAnswers: ReadAnswers | undefined;

  constructor(
    first: FetchedAnswer,
    download: RunningDownload,
    { aheadBook, plane }: QuestionsComponents,
    thinksMs: number,
  ) {
    const { host, port } = first.target.url;
    this.#first = first;
    this.#download = download;
    this.#plane = plane;
    this.#book = aheadBook;
    this.#thinksMs = thinksMs;
    this.#authority = formatAuthority(host, port);
  }

  get mostQuestions(): number {
    const isSingly = this.#isSingly || this.#book.isUnfit(this.#authority, depotsBehind(this.#first.route));
    return isSingly ? 1 : AheadConnection.MOST_QUESTIONS;
  }

  /** The body of the first answer, taken from Node's client, where its connection can be asked ahead. */
  async takeFirst(): Promise<TakenBody | undefined> {
    const { connection, head, route } = this.#first;
    if (!connection.isKept) this.#noteUnfit(route, 'answer');
    if (this.mostQuestions === 1) return undefined;
    const body = await connection.takeBody(() => true);
    // One whose length is stated may be so short that it has come with its head.
    if (!body && head.headers['content-length'] === undefined) this.#noteUnfit(route, 'answer');
    return body;
  }

  /** Has a relay thread carry the download, where it can read what comes over connections like this one. */
  async carry(source: Duplex, part: Part, held: HeldCounters | undefined) {
    const { client, stop: signal } = this.#download;
    const { relay, timeouts } = this.#plane;
    const sizeBytes = part.endByte - part.startByte;
    if (!client.socket || !relay.splices(source, client.socket, sizeBytes)) return undefined;
    const byThread = await carryByThread(client, part, { relay, held, stallMs: timeouts.stallMs, signal });
    this.#readAnswers = byThread?.readAnswers;
    return byThread;
  }

  /** The connection of the first answer, with its body unread, as a lane has it. */
  goOn(taken: TakenBody | undefined): Conversation {
    const { connection, route } = this.#first;
    return taken
      ? AheadConnection.goingOn(
          taken,
          this.#over(() => route),
        )
      : connection;
  }

  /** A new connection; `route` gives what it was made over, once it stands. */
  open(open: OpenStream, route: () => Route): Conversation {
    return this.mostQuestions === 1
      ? new OriginConnection(open)
      : new AheadConnection(open, this.#over(route));
  }

  #over(route: () => Route) {
    return {
      isFit: () => this.#book.isFit(this.#authority),
      noteFit: () => this.#book.noteFit(this.#authority),
      noteUnfit: (by: 'answer' | 'connection') => this.#noteUnfit(route(), by),
      noteBreak: () => {
        if (this.#book.noteBreak(this.#authority, depotsBehind(route()))) this.#askSingly();
      },
      thinksMs: this.#thinksMs,
      readAnswers: this.#readAnswers,
    };
  }

  #noteUnfit(route: Route, by: 'answer' | 'connection'): void {
    // What comes by TLS no depot between can have said.
    const isOwnWord = by === 'answer' && this.#first.target.url.scheme === 'https';
    this.#askSingly();
    this.#book.noteUnfit(this.#authority, isOwnWord ? [] : depotsBehind(route));
  }

  /** Over whatever way: one that breaks again and again would be asked ahead again and again. */
  #askSingly(): void {
    if (!this.#isSingly) this.#plane.observe({ type: 'lanes-asked-singly', jobId: this.#download.job.id });
    this.#isSingly = true;
  }
}
