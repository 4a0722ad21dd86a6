import { DEPOT_ID, JOIN_TOKEN_ID, PUBLIC_KEY } from '@longhaul/shared';
import * as z from 'zod/mini';
import { LONGEST_TOKEN_MS } from './enrolment-facts.ts';

/**
 * `POST /v1/enrolment`: what an operator asks the own master for; signed by that master's signing key, which
 * lies in its state folder.
 */
export const ENROLMENT_PATH = '/v1/enrolment';

const depot = z.string().check(z.regex(DEPOT_ID));
const token = z.string().check(z.regex(JOIN_TOKEN_ID));

export const enrolmentRequestSchema = z.discriminatedUnion('do', [
  z.strictObject({
    do: z.literal('create-token'),
    token: z.strictObject({
      id: token,
      publicKey: z.string().check(z.regex(PUBLIC_KEY)),
      site: z.optional(depot),
      depot: z.optional(depot),
      lifeMs: z.number().check(z.minimum(0), z.maximum(LONGEST_TOKEN_MS)),
    }),
  }),
  z.strictObject({ do: z.literal('list-tokens') }),
  z.strictObject({ do: z.literal('revoke-token'), token }),
  z.strictObject({ do: z.literal('revoke-depot'), depot }),
]);
export type EnrolmentRequest = z.infer<typeof enrolmentRequestSchema>;

export const enrolmentAnswerSchema = z.object({
  tokens: z.array(
    z.object({
      id: z.string(),
      site: z.optional(z.string()),
      depot: z.optional(z.string()),
      state: z.string(),
      until: z.string(),
      usedBy: z.optional(z.string()),
    }),
  ),
});
export type EnrolmentAnswer = z.infer<typeof enrolmentAnswerSchema>;
