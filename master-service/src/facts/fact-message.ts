import * as z from 'zod';
import type { Fact } from './fact.ts';

const count = z.int().min(0);
/** Characters of a name in a fact. */
const MOST_NAME_CHARS = 300;
/** Marks in one message: twice as many as there are sources. */
const MOST_MARKS = 1_024;
const name = z.string().min(1).max(MOST_NAME_CHARS);

/** A fact on its way, with its age in place of a time: clocks of masters need not agree. */
export interface ToldFact {
  readonly kind: string;
  readonly key: string;
  readonly source: string;
  readonly epoch: number;
  readonly sequence: number;
  readonly ageMs: number;
  readonly value: unknown;
}

/** Up to which sequence of which epoch everything that a source said, and that still counts, is held. */
const markSchema = z.object({ source: name, epoch: count, upTo: count });
export type Mark = z.output<typeof markSchema>;

/**
 * What one master tells all others: everything that it has learned after one sequence, up to another one. One
 * without facts only says that it is there, and what it holds of others.
 */
const tellingSchema = z.object({
  type: z.literal('learned'),
  source: name,
  epoch: count,
  /** By the source's steady clock, milliseconds since any moment of this epoch. */
  sentMs: z.number(),
  after: count,
  upTo: count,
  facts: z.array(z.unknown()),
  /** What it holds of others; a master that cannot hear one of them sees there that it misses something. */
  have: z.array(markSchema).optional(),
});
export type Telling = z.output<typeof tellingSchema>;

/** Asks for everything that is not held yet. */
const questionSchema = z.object({ type: z.literal('ask'), have: z.array(markSchema) });
export type Question = z.output<typeof questionSchema>;

/** A part of the answer. The last one says what is held now by whoever has taken all parts. */
const partSchema = z.object({
  type: z.literal('held'),
  facts: z.array(z.unknown()),
  have: z.array(markSchema).optional(),
});
export type Part = z.output<typeof partSchema>;

/** Reads a message; `undefined` where it is none. Its facts are read one by one. */
export const readTelling = (text: string): Telling | undefined => read(tellingSchema, text);
export const readQuestion = (text: string): Question | undefined => read(questionSchema, text);
export const readPart = (text: string): Part | undefined => read(partSchema, text);

/**
 * Reads one fact; `undefined` where it is none. By hand: there are many thousands of them, and a schema takes
 * ten times as long.
 */
export function readFact(told: unknown): ToldFact | undefined {
  if (typeof told !== 'object' || told === null) return undefined;
  const { kind, key, source, epoch, sequence, ageMs, value } = told as Record<string, unknown>;
  const isFact =
    isName(kind) && isName(key) && isName(source) && isCount(epoch) && isCount(sequence) && sequence > 0;
  if (!isFact || typeof ageMs !== 'number' || !Number.isFinite(ageMs) || ageMs < 0) return undefined;
  return { kind, key, source, epoch, sequence, ageMs, value };
}

/** How many marks a message says it has, whatever they are. */
function marksIn(message: unknown): number {
  const have: unknown =
    typeof message === 'object' && message !== null && 'have' in message ? message.have : undefined;
  return Array.isArray(have) ? have.length : 0;
}

function isName(text: unknown): text is string {
  return typeof text === 'string' && text !== '' && text.length <= MOST_NAME_CHARS;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** A fact as JSON text, as old as it is now, to the millisecond. */
export function factText({ kind, key, source, epoch, sequence, timeMs, value }: Fact, nowMs: number): string {
  const ageMs = Math.max(0, Math.round(nowMs - timeMs));
  return JSON.stringify({ kind, key, source, epoch, sequence, ageMs, value });
}

/** A message as JSON text, with facts that are texts already. */
export function messageText(
  head: Omit<Telling, 'facts'> | Omit<Part, 'facts'>,
  facts: readonly string[],
): string {
  return `${JSON.stringify(head).slice(0, -1)},"facts":[${facts.join(',')}]}`;
}

function read<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // Before the schema looks at each of them: that takes seconds where there are hundreds of thousands.
    return marksIn(value) > MOST_MARKS ? undefined : schema.safeParse(value).data;
  } catch {
    return undefined;
  }
}
