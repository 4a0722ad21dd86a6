import * as z from 'zod';

export const SELF_TEST_NAME = 'self-test';

/** One promise of the emulator, held against a machine. */
export const selfTestLineSchema = z.object({
  check: z.string(),
  expected: z.string(),
  measured: z.string(),
  isWithin: z.boolean(),
});

export type SelfTestLine = z.infer<typeof selfTestLineSchema>;
