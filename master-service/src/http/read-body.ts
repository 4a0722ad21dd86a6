import type { IncomingMessage } from 'node:http';
import { MAX_BODY_BYTES, ok, type Result, refuse } from '@longhaul/shared';
import type * as z from 'zod/mini';

/** Reads a request's raw body; `bad-request` when it is longer than `MAX_BODY_BYTES` or breaks off. */
export async function readBody(request: IncomingMessage): Promise<Result<Buffer>> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      length += bytes.length;
      if (length > MAX_BODY_BYTES) {
        return refuse('bad-request', `the body is longer than ${MAX_BODY_BYTES / 1024} KiB`);
      }
      chunks.push(bytes);
    }
  } catch {
    return refuse('bad-request', 'the body breaks off');
  }
  return ok(Buffer.concat(chunks));
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
