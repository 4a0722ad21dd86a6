import * as z from 'zod';
import { rounded } from '../results/rounded.ts';
import type { TransferOutcome } from '../transfers/transfer.ts';

const download = {
  client: z.string(),
  origin: z.string(),
  /** Of the world. */
  state: z.string(),
  /** The entry depot first; empty for direct. */
  chain: z.array(z.string()),
  lanes: z.number(),
  /** Until it ended, or was cut. */
  seconds: z.number(),
  /** Of what was cut: as far as it came. */
  isRight: z.boolean(),
  /** It was ended after so long: the whole file takes longer. */
  cut: z.literal(true).optional(),
  error: z.string().optional(),
  /** How late the emulator was at worst since the download before ended. */
  latenessMs: z.number(),
  load: z.number(),
};

/** One download by hand, or one through the master. */
export const unknownLineSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('oracle'),
    ...download,
    /** From 1 on. */
    repeat: z.number(),
  }),
  z.object({
    kind: z.literal('auto'),
    ...download,
    /** From 1 on; a run that was taken up again has a fresh overlay, and begins anew. */
    attempt: z.number(),
    /** From 1 on, in this overlay. */
    number: z.number(),
    /** Which of the world's spells, from 0 on. */
    spell: z.number(),
    /** When it began, in this overlay. */
    atSeconds: z.number(),
    /** What its plan said; left out where the plan was not the one that led it. */
    plan: z
      .object({
        reason: z.string(),
        predictedSeconds: z.number(),
        predictedDirectSeconds: z.number(),
      })
      .optional(),
    /** What depots have sent for nothing but measuring, and carried to clients, until then. */
    measuringBytes: z.number(),
    carriedBytes: z.number(),
  }),
]);
export type UnknownLine = z.infer<typeof unknownLineSchema>;
export type OracleLine = Extract<UnknownLine, { kind: 'oracle' }>;
export type AutoLine = Extract<UnknownLine, { kind: 'auto' }>;

/** What of a line a client's transfer decides. */
export function outcomeOf({ seconds, isRight, isCut, error }: TransferOutcome) {
  return {
    seconds: rounded(seconds, 4),
    isRight,
    ...(isCut ? { cut: true as const } : {}),
    ...(error === undefined ? {} : { error }),
  };
}
