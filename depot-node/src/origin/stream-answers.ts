import type { Duplex } from 'node:stream';
import type { AnswerEvents, AnswerReader, BodyOrder } from '../relay/answer-reader.ts';
import { GatheredChunks } from './gathered-chunks.ts';
import { TinyChunks, tinyChunks } from './tiny-chunks.ts';

/** Reads the answers that come over a stream through this thread: a head, a body of known length, the next head. */
export class StreamAnswers implements AnswerReader {
  readonly #below: Duplex;
  readonly #events: AnswerEvents;
  readonly #tiny = tinyChunks.sender();
  /** What has come and was not used. */
  #come: Buffer[] = [];
  /** Whether what comes next is a head, and wanted. */
  #isAtHead: boolean;
  #body: { restBytes: number; readonly gathered: GatheredChunks } | undefined;
  #isPaused = false;
  #resting: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(below: Duplex, first: Buffer, isAtHead: boolean, events: AnswerEvents) {
    this.#below = below;
    this.#events = events;
    this.#isAtHead = isAtHead;
    if (first.length > 0) this.#come.push(first);
    below.on('data', this.#onData).on('end', this.#onEnd);
    this.#flow();
  }

  get hasUnused(): boolean {
    return this.#come.length > 0;
  }

  readHead(): void {
    this.#isAtHead = true;
    this.#flow();
  }

  readBody({ sizeBytes, onChunk }: BodyOrder): void {
    const gathered = new GatheredChunks(onChunk, (tiny) => this.#rest(this.#tiny.note(tiny)));
    this.#body = { restBytes: sizeBytes, gathered };
    this.#flow();
  }

  pause(): void {
    this.#isPaused = true;
    this.#flow();
  }

  resume(): void {
    this.#isPaused = false;
    this.#flow();
  }

  leave(): void {
    this.#isOver = true;
    clearTimeout(this.#resting);
    this.#below.off('data', this.#onData).off('end', this.#onEnd);
    this.#come = [];
    this.#body?.gathered.flush();
    this.#body = undefined;
  }

  readonly #onData = (chunk: Buffer) => {
    this.#events.onCame();
    this.#come.push(chunk);
    if (!this.#body && TinyChunks.isTiny(chunk)) this.#rest(this.#tiny.note(1));
    this.#use();
    // Nobody reads what was answered: no more than this is kept.
    if (!this.#isWanted) this.#below.pause();
  };
  readonly #onEnd = () => this.#events.onEnd();

  get #isWanted(): boolean {
    return this.#isAtHead || this.#body !== undefined;
  }

  get #isStopped(): boolean {
    return this.#isPaused || this.#resting !== undefined;
  }

  /** Uses what has come: for the body that is read, then for the next head. */
  #use(): void {
    while (!this.#isOver && !this.#isStopped && this.#come.length > 0) {
      if (this.#body) this.#useForBody(this.#body);
      else if (!this.#isAtHead || !this.#useForHead()) return;
    }
  }

  #useForBody(body: { restBytes: number; readonly gathered: GatheredChunks }): void {
    const [chunk] = this.#come;
    if (!chunk) return;
    const bytes = chunk.subarray(0, body.restBytes);
    if (bytes.length === chunk.length) this.#come.shift();
    else this.#come[0] = chunk.subarray(bytes.length);
    body.restBytes -= bytes.length;
    body.gathered.add(bytes);
    if (body.restBytes > 0 || this.#isOver) return;
    this.#body = undefined;
    body.gathered.flush();
    this.#events.onWhole();
  }

  /** Whether a head was there. */
  #useForHead(): boolean {
    const bytes = Buffer.concat(this.#come);
    this.#come = [bytes];
    this.#isAtHead = false;
    const usedBytes = this.#events.onHead(bytes);
    if (this.#isOver) return false;
    if (usedBytes === 0) this.#isAtHead = true;
    else this.#come = usedBytes < bytes.length ? [bytes.subarray(usedBytes)] : [];
    return usedBytes > 0;
  }

  #rest(restMs: number): void {
    if (restMs === 0 || this.#isOver) return;
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      this.#resting = undefined;
      this.#flow();
    }, restMs);
    this.#flow();
  }

  #flow(): void {
    if (this.#isOver) return;
    this.#events.onStopped(this.#isStopped);
    if (this.#isStopped) this.#below.pause();
    // Whoever has read the answer before is told of its end first.
    else if (this.#come.length > 0 && this.#isWanted) setImmediate(() => this.#goOn());
    else if (this.#isWanted) this.#below.resume();
  }

  #goOn(): void {
    if (this.#isOver || this.#isStopped) return;
    this.#use();
    if (!this.#isOver && !this.#isStopped && this.#isWanted) this.#below.resume();
  }
}
