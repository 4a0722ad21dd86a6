import * as z from 'zod';
import { LabRefusal } from '../refusal.ts';
import type { TransferLine } from './transfer-line.ts';

const lineSchema: z.ZodType<TransferLine> = z.object({
  experiment: z.string(),
  scenario: z.string(),
  variant: z.string(),
  repeat: z.number().int().positive(),
  seed: z.number(),
  sizeBytes: z.number().nonnegative(),
  seconds: z.number().nonnegative(),
  goodputBps: z.number().nonnegative(),
  ttfbMs: z.number().nonnegative().nullable(),
  sha256Ok: z.boolean().nullable(),
  latenessMs: z.number().nonnegative(),
  load: z.number().nonnegative(),
  cut: z.literal(true).optional(),
  prefixOk: z.boolean().optional(),
  receivedBytes: z.number().nonnegative().optional(),
  chain: z.array(z.string()).optional(),
  setUpMs: z.number().nonnegative().optional(),
  error: z.string().optional(),
});

export interface ReadLines {
  readonly lines: readonly TransferLine[];
  /** Bytes up to and with the last line feed; what follows was torn by a crash. */
  readonly wholeBytes: number;
}

const LINE_FEED = 0x0a;

/**
 * Reads the whole lines of a result. A torn last line is left out: its transfer counts as not made. Throws a refusal
 * that names file and line when a whole line is no transfer.
 */
export function readLines(file: string, content: Buffer): ReadLines {
  const wholeBytes = content.lastIndexOf(LINE_FEED) + 1;
  const texts = content.toString('utf8', 0, wholeBytes).split('\n').slice(0, -1);
  return { lines: texts.map((text, at) => parseLine(text, `${file}, line ${at + 1}`)), wholeBytes };
}

function parseLine(text: string, place: string): TransferLine {
  const parsed = lineSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.length ? `${issue.path.join('.')}: ` : '';
  throw new LabRefusal(
    'lab-result-file',
    `${place} is not a transfer (${where}${issue?.message ?? 'unreadable'}): remove that line, or move the file away.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
