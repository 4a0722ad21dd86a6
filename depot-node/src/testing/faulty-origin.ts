import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** What goes wrong with one answer. `at` counts bytes of the whole file. */
export type Fault =
  /** The connection ends so, after the byte before `at`. */
  | { readonly how: 'reset' | 'end' | 'silence'; readonly at: number }
  /** The answer is whole, but the file is not: it ends there. */
  | { readonly how: 'cut-off'; readonly at: number }
  /** It goes on after so long, or so long after the connection of the next question has ended. */
  | {
      readonly how: 'pause';
      readonly at: number;
      readonly ms: number;
      readonly behind?: 'next-question';
    }
  /** It is refused. */
  | { readonly how: 'refused'; readonly status: number }
  /** No answer comes, or only that it is being made. */
  | { readonly how: 'unanswered' | 'at-work' }
  /** The answer is another one than was asked for. */
  | {
      readonly how:
        | 'changed'
        | 'unnamed'
        | 'whole-instead'
        | 'other-range'
        | 'other-total'
        | 'short-length'
        | 'gone'
        | 'busy'
        /** The same, for longer than any repair waits. */
        | 'busy-for-long'
        /** The same, and nothing but the end of the connection says where its page ends. */
        | 'busy-without-length'
        | 'garbage';
    };

/** An origin with one file, whose answers fail as the test says: one fault for each request, in order. */
export class FaultyOrigin {
  readonly file: Buffer;
  faults: (Fault | undefined)[] = [];
  /** Headers of the answers; entries that are `undefined` are left out. */
  validators: Record<string, string | undefined> = { ETag: '"v1"', 'Accept-Ranges': 'bytes' };
  /** Whether it answers every request with the whole file. */
  ignoresRanges = false;
  /** What tells where a body ends. */
  framing: 'length' | 'chunks' | 'connection' = 'length';
  /** Called when an answer has begun. */
  onAnswer: (() => void) | undefined;
  /** Called when a question has come that is not answered. */
  onUnanswered: (() => void) | undefined;
  readonly ranges: (string | undefined)[] = [];
  /** Where the file is; what still comes for an earlier path is answered with 404 and counts nowhere. */
  path = '/file-0.bin';
  /** Answers that went silent. */
  readonly silent: ServerResponse[] = [];
  /** Called when the connection of the next question has ended. */
  #onNextEnded: (() => void)[] = [];

  constructor(sizeBytes: number) {
    this.file = randomBytes(sizeBytes);
  }

  /** Forgets everything that was, with a new path for the file. */
  begin(): void {
    this.path = `/file-${Number(/[0-9]+/.exec(this.path)?.[0]) + 1}.bin`;
    this.faults = [];
    this.validators = { ETag: '"v1"', 'Accept-Ranges': 'bytes' };
    this.ignoresRanges = false;
    this.framing = 'length';
    this.onAnswer = undefined;
    this.onUnanswered = undefined;
    this.#onNextEnded = [];
    this.ranges.length = 0;
    this.silent.length = 0;
  }

  readonly listener: RequestListener = (request, response) => {
    if (request.url !== this.path) {
      response.writeHead(404, { 'Content-Length': 0 }).end();
      return;
    }
    this.ranges.push(request.headers.range);
    for (const onEnded of this.#onNextEnded.splice(0)) request.socket.once('close', onEnded);
    const fault = this.faults.shift();
    const { from, to } = this.#asked(request);
    const isPart = request.headers.range !== undefined && !this.ignoresRanges;
    const headers = Object.fromEntries(
      Object.entries(this.validators).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const total = this.file.length;
    if (fault?.how === 'gone' || fault?.how === 'refused') {
      response.writeHead('status' in fault ? fault.status : 404, { 'Content-Length': 0 }).end();
      return;
    }
    if (fault?.how === 'unanswered') {
      this.onUnanswered?.();
      return;
    }
    if (fault?.how === 'at-work') {
      response.socket?.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(25));
      return;
    }
    if (fault?.how === 'busy' || fault?.how === 'busy-for-long') {
      const seconds = fault.how === 'busy' ? 1 : 3600;
      response.writeHead(503, { 'Retry-After': seconds, 'Content-Length': 0 }).end();
      return;
    }
    if (fault?.how === 'busy-without-length') {
      response.useChunkedEncodingByDefault = false;
      response.writeHead(503, { 'Retry-After': '1' }).end('later');
      return;
    }
    if (fault?.how === 'garbage') {
      response.socket?.end('HTTP/1.1 206 \x00\r\nContent-Range: bytes\r\n\r\n');
      return;
    }
    if (fault?.how === 'whole-instead') {
      response.writeHead(200, { ...headers, 'Content-Length': total }).end(this.file);
      return;
    }
    if (fault?.how === 'changed') headers.ETag = '"v2"';
    if (fault?.how === 'unnamed') delete headers.ETag;
    const shift = fault?.how === 'other-range' ? 1 : 0;
    const length = to - from - (fault?.how === 'short-length' ? 1 : 0);
    const stated = fault?.how === 'other-total' ? total + 1 : total;
    if (isPart) headers['Content-Range'] = `bytes ${from - shift}-${to - 1 - shift}/${stated}`;
    if (this.framing === 'length') headers['Content-Length'] = String(length);
    response.useChunkedEncodingByDefault = this.framing === 'chunks';
    response.writeHead(isPart ? 206 : 200, headers);
    this.onAnswer?.();
    if (request.method === 'HEAD') response.end();
    else this.#send(response, from, from + length, fault);
  };

  #asked({ headers }: IncomingMessage): { from: number; to: number } {
    const range = this.ignoresRanges ? '' : (headers.range ?? '');
    const [, first, last] = /^bytes=([0-9]+)-([0-9]*)$/.exec(range) ?? [];
    const to = last ? Math.min(Number(last) + 1, this.file.length) : this.file.length;
    return { from: Number(first ?? 0), to };
  }

  #send(response: ServerResponse, from: number, to: number, fault: Fault | undefined): void {
    if (fault === undefined || !('at' in fault) || fault.at >= to) {
      response.end(this.file.subarray(from, to));
      return;
    }
    const cut = this.file.subarray(from, Math.max(from, fault.at));
    const { socket } = response;
    const nextEnded =
      fault.how === 'pause' && fault.behind
        ? new Promise<void>((resolve) => this.#onNextEnded.push(resolve))
        : undefined;
    response.write(cut.length > 0 ? cut : '', () => {
      if (fault.how === 'reset') socket?.resetAndDestroy();
      else if (fault.how === 'cut-off') response.end();
      else if (fault.how === 'end') socket?.end();
      else if (fault.how === 'pause') {
        const goOn = () => response.end(this.file.subarray(Math.max(from, fault.at), to));
        void Promise.resolve(nextEnded).then(() => setTimeout(goOn, fault.ms));
      } else this.silent.push(response);
    });
  }
}
