import type { IncomingMessage } from 'node:http';
import { clientPrefix, MAX_BODY_BYTES, ok, type Result, refuse } from '@longhaul/shared';
import { FairRoom } from '@longhaul/shared/service';
import type * as z from 'zod/mini';

/**
 * Bytes of bodies that this process holds while the rest of them comes; a client network has no more than it
 * leaves free.
 */
const MOST_HELD_BYTES = 67_108_864;
/**
 * To read JSON of more takes a millisecond and more: such bodies that end together are taken one in a turn of
 * the event loop.
 */
const LARGE_BYTES = 8_192;

const held = new FairRoom(MOST_HELD_BYTES);
let lastTurn = Promise.resolve();

/**
 * Reads a request's raw body; `bad-request` when it is longer than `mostBytes` or breaks off, `master-busy`
 * where too much of others' is held.
 */
export async function readBody(
  request: IncomingMessage,
  mostBytes: number = MAX_BODY_BYTES,
): Promise<Result<Buffer>> {
  const tooLong = () => refuse('bad-request', `the body is longer than ${mostBytes / 1024} KiB`);
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) return tooLong();
  const network = clientPrefix(request.socket.remoteAddress ?? '') ?? '';
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      if (length + bytes.length > mostBytes) return tooLong();
      if (!held.take(network, bytes.length)) return refuse('master-busy');
      length += bytes.length;
      chunks.push(bytes);
    }
    // What waits for its turn is held as well.
    if (length > LARGE_BYTES) await ownTurn();
  } catch {
    return refuse('bad-request', 'the body breaks off');
  } finally {
    if (length > 0) held.giveBack(network, length);
  }
  return ok(Buffer.concat(chunks));
}

/** Waits for a turn of the event loop that is nobody else's. */
function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((begin) => setImmediate(begin)));
  return lastTurn;
}

/** Parses a JSON body by its schema; `bad-request` names the first part that does not fit. */
export function parseBody<Schema extends z.ZodMiniType>(
  schema: Schema,
  body: Uint8Array,
): Result<z.output<Schema>> {
  const value = parseJson(body);
  if (value === undefined) return refuse('bad-request', 'the body is not JSON');
  const parsed = schema.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const issue = parsed.error.issues[0];
  const place = issue?.path.map(String).join('.');
  return refuse('bad-request', place ? `${place} does not fit` : 'the body does not fit');
}

/** For Express handlers only: a refusal travels on as a thrown error to the one error handler, which answers it. */
export function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw result.error;
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
