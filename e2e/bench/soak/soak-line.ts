import * as z from 'zod';

const count = z.number().int().nonnegative();

const processStateSchema = z.object({
  descriptors: count,
  pipes: count,
  sockets: count,
  residentBytes: count,
});

const depotSoakSchema = z.object({
  id: z.string(),
  before: processStateSchema,
  /** Under load, the most of some looks. */
  busy: processStateSchema,
  /** At rest after the first half: by then every heap has grown as far as this load makes it. */
  half: processStateSchema,
  after: processStateSchema,
  /** Transfers and tunnels that the depot still counts as running, at the end. */
  active: count,
});

/** One soak as it is kept: how its downloads ended, and what each depot held. */
export const soakLineSchema = z.object({
  bench: z.literal('soak'),
  flows: count,
  seconds: z.number().positive(),
  outcomes: z.object({ whole: count, left: count, broke: count, wrong: count }),
  depots: z.array(depotSoakSchema),
});

/** What a process holds. */
export type ProcessState = z.infer<typeof processStateSchema>;
export type DepotSoak = z.infer<typeof depotSoakSchema>;
export type SoakLine = z.infer<typeof soakLineSchema>;
/** How a download ended: whole with the right digest, left on purpose, broken, or with wrong bytes. */
export type SoakOutcome = keyof SoakLine['outcomes'];
