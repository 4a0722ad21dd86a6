import type { Socket } from 'node:net';
import { HEADERS } from '@longhaul/shared';

/** The head of an answer as it came over a raw connection. */
export interface RawHead {
  readonly status: number;
  /** Lower-case names; the last value where one came twice. */
  readonly headers: Readonly<Record<string, string>>;
  /** What came behind it already. */
  readonly rest: Buffer;
}

export interface RawAnswer extends RawHead {
  readonly body: Buffer;
  /** How it ended: by its own framing, by the end of the connection, by its break, or not at all within the time. */
  readonly end: 'framed' | 'closed' | 'reset' | 'silent';
}

/** An answer that has not come by then is none. */
const PATIENCE_MS = 10_000;
const HEAD_END = '\r\n\r\n';
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Reads the next head; interim answers are passed over. `undefined` when the connection ends, or stays
 * silent, before.
 */
export async function readHead(
  socket: Socket,
  { patienceMs = PATIENCE_MS, begun = NOTHING } = {},
): Promise<RawHead | undefined> {
  let come: Buffer = begun;
  for (;;) {
    const end = come.indexOf(HEAD_END);
    if (end >= 0) {
      const head = parseHead(come.subarray(0, end).toString('latin1'), come.subarray(end + HEAD_END.length));
      if (head.status >= 200 || head.status === 101) return head;
      come = head.rest;
      continue;
    }
    const chunk = await nextChunk(socket, patienceMs);
    if (!Buffer.isBuffer(chunk)) return undefined;
    come = Buffer.concat([come, chunk]);
  }
}

/** Reads the next answer to its end. */
export async function readAnswer(
  socket: Socket,
  { patienceMs = PATIENCE_MS, begun = NOTHING, hasBody = true } = {},
): Promise<RawAnswer | undefined> {
  const head = await readHead(socket, { patienceMs, begun });
  if (!head) return undefined;
  const framing = hasBody && head.status !== 204 && head.status !== 304 ? framingOf(head) : { sizeBytes: 0 };
  let come = head.rest;
  for (;;) {
    const whole = takeBody(come, framing);
    if (whole) return { ...head, ...whole, end: 'framed' };
    const chunk = await nextChunk(socket, patienceMs);
    if (Buffer.isBuffer(chunk)) come = Buffer.concat([come, chunk]);
    else
      return {
        ...head,
        body: framing === 'chunked' ? readChunks(come).body : come,
        rest: NOTHING,
        end: chunk,
      };
  }
}

/** What became of a request, in one word: the code of a refusal, `served`, or how the connection ended. */
export function verdictOf(head: RawHead | undefined): string {
  if (!head) return 'closed';
  const code = head.headers[HEADERS.error];
  if (code !== undefined) return code;
  return head.status < 400 ? 'served' : `status ${head.status}`;
}

type Framing = { readonly sizeBytes: number } | 'chunked' | 'by-close';

function framingOf({ headers }: RawHead): Framing {
  if (/chunked/i.test(headers['transfer-encoding'] ?? '')) return 'chunked';
  const length = headers['content-length'];
  return length === undefined ? 'by-close' : { sizeBytes: Number(length) };
}

function takeBody(come: Buffer, framing: Framing): { body: Buffer; rest: Buffer } | undefined {
  if (framing === 'by-close') return undefined;
  if (framing === 'chunked') return takeChunks(come);
  if (come.length < framing.sizeBytes) return undefined;
  return { body: come.subarray(0, framing.sizeBytes), rest: come.subarray(framing.sizeBytes) };
}

function takeChunks(come: Buffer): { body: Buffer; rest: Buffer } | undefined {
  const { body, rest } = readChunks(come);
  return rest && { body, rest };
}

/** The body as far as it has come, the last chunk maybe in part; what is behind it once it has ended. */
function readChunks(come: Buffer): { body: Buffer; rest: Buffer | undefined } {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = come.indexOf('\r\n', at);
    const sizeBytes = lineEnd < 0 ? Number.NaN : Number.parseInt(come.toString('latin1', at, lineEnd), 16);
    const start = lineEnd + 2;
    if (sizeBytes === 0) {
      const end = come.indexOf('\r\n', start);
      return { body: Buffer.concat(chunks), rest: end < 0 ? undefined : come.subarray(end + 2) };
    }
    if (!(sizeBytes > 0)) return { body: Buffer.concat(chunks), rest: undefined };
    chunks.push(come.subarray(start, start + sizeBytes));
    at = start + sizeBytes + 2;
    if (come.length < at) return { body: Buffer.concat(chunks), rest: undefined };
  }
}

function parseHead(text: string, rest: Buffer): RawHead {
  const [first = '', ...lines] = text.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  return { status: Number(/^HTTP\/1\.[01] ([0-9]{3})/.exec(first)?.[1] ?? 0), headers, rest };
}

function nextChunk(socket: Socket, patienceMs: number): Promise<Buffer | 'closed' | 'reset' | 'silent'> {
  if (socket.destroyed) return Promise.resolve(socket.errored ? 'reset' : 'closed');
  if (socket.readableEnded) return Promise.resolve('closed');
  return new Promise((resolve) => {
    const settle = (what: Buffer | 'closed' | 'reset' | 'silent') => {
      clearTimeout(timer);
      socket.pause();
      socket.off('data', settle).off('end', onEnd).off('close', onClose);
      resolve(what);
    };
    const onEnd = () => settle('closed');
    const onClose = () => settle(socket.errored ? 'reset' : 'closed');
    // What came while this process stood still is read first.
    const onSilence = () => setImmediate(() => settle('silent'));
    const timer = setTimeout(onSilence, patienceMs);
    socket.on('data', settle).once('end', onEnd).once('close', onClose);
    socket.resume();
  });
}
