import * as z from 'zod';
import { LabRefusal } from '../refusal.ts';
import type { TransferLine } from './transfer-line.ts';

const legLineSchema = z.object({
  at: z.string(),
  to: z.string(),
  connections: z.number().int().positive(),
  sentBytes: z.number().nonnegative(),
  retransmittedBytes: z.number().nonnegative(),
  receivedBytes: z.number().nonnegative(),
  minRttMs: z.number().nonnegative().optional(),
  rttMs: z.number().nonnegative().optional(),
  deliveryRateBps: z.number().nonnegative().optional(),
  limitedMs: z.record(z.string(), z.number()),
});

/** A transfer as it stands in a result of the lab. */
export const transferLineSchema: z.ZodType<TransferLine> = z.object({
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
  lanes: z.number().int().positive().optional(),
  predictedSeconds: z.number().nonnegative().optional(),
  predictedDirectSeconds: z.number().nonnegative().optional(),
  legs: z.array(legLineSchema).optional(),
  crossBps: z.number().nonnegative().optional(),
  deviceDrops: z.number().int().nonnegative().optional(),
  wayChanges: z.number().int().nonnegative().optional(),
  setUpMs: z.number().nonnegative().optional(),
  fault: z.enum(['fin', 'rst', 'silence']).optional(),
  position: z.enum(['first', 'middle', 'last']).optional(),
  atPercent: z.number().positive().optional(),
  pauseMs: z.number().nonnegative().optional(),
  attempts: z.number().int().positive().optional(),
  error: z.string().optional(),
});

export interface ReadLines<Line> {
  readonly lines: readonly Line[];
  /** Bytes up to and with the last line feed; what follows was torn by a crash. */
  readonly wholeBytes: number;
}

const LINE_FEED = 0x0a;

/**
 * Reads the whole lines of a result. A torn last line is left out: what it tells counts as not done. Throws a refusal
 * that names file and line when a whole line is not of this schema.
 */
export function readLines<Line>(file: string, content: Buffer, schema: z.ZodType<Line>): ReadLines<Line> {
  const wholeBytes = content.lastIndexOf(LINE_FEED) + 1;
  const texts = content.toString('utf8', 0, wholeBytes).split('\n').slice(0, -1);
  return { lines: texts.map((text, at) => parseLine(text, `${file}, line ${at + 1}`, schema)), wholeBytes };
}

function parseLine<Line>(text: string, place: string, schema: z.ZodType<Line>): Line {
  const parsed = schema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.length ? `${issue.path.join('.')}: ` : '';
  throw new LabRefusal(
    'lab-result-file',
    `${place} is not of this kind of result (${where}${issue?.message ?? 'unreadable'}): remove that line, or move the file away.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
