import * as z from 'zod';

export const WAYS = ['longhaul', 'direct'] as const;
/** With the add-on, or the same browser without it. */
export type Way = (typeof WAYS)[number];

export const BROWSER_KINDS = ['chromium', 'firefox'] as const;

/** One download of one case. */
export const browsersLineSchema = z.object({
  bench: z.literal('browsers'),
  browser: z.enum(BROWSER_KINDS),
  /** As it calls itself. */
  version: z.string(),
  case: z.string(),
  way: z.enum(WAYS),
  /** From 1 on. */
  repeat: z.number(),
  sizeBytes: z.number(),
  /** From the click to the first byte on disk, and to the whole file under its name; null: that never was. */
  firstByteMs: z.number().nullable(),
  endMs: z.number().nullable(),
  /** Whether what lies there is the file, byte by byte. */
  isEqual: z.boolean(),
  /** Names in the folder at the end; the number of the repeat is taken out. */
  files: z.array(z.string()),
  /** Body bytes that the origin sent to the browser itself, and to depots. */
  toBrowserBytes: z.number(),
  toDepotsBytes: z.number(),
  /** What the add-on's popup says of it afterwards; empty without the add-on. */
  said: z.string(),
  /** Average load of the machine in the last minute. */
  load: z.number(),
});
export type BrowsersLine = z.infer<typeof browsersLineSchema>;
