/** How a depot becomes one: registering, joining by a token, taking another key. */
import * as z from 'zod/mini';
import { JOIN_TOKEN_ID } from '../join-token.ts';
import { depotId, publicKey } from './fields.ts';

/**
 * `POST /v1/depots`: a depot registers its address and key; signed by that key, and under the enrolment
 * secret's MAC. What a newer depot says more is left out.
 */
export const registerRequestSchema = z.object({
  id: depotId,
  publicKey,
  host: z.string().check(z.maxLength(255)),
  port: z.number().check(z.int(), z.minimum(1), z.maximum(65535)),
  tls: z.boolean(),
});
export type RegisterRequest = z.infer<typeof registerRequestSchema>;

/** `POST /v1/depots/join`: a depot lets its key be known, with a token; signed by that key and by the token's. */
export const joinRequestSchema = z.strictObject({
  id: depotId,
  publicKey,
  /** The site that it stands at. */
  site: depotId,
  /** The id of the token. */
  token: z.string().check(z.regex(JOIN_TOKEN_ID)),
});
export type JoinRequest = z.infer<typeof joinRequestSchema>;

/** `POST /v1/depots/<id>/key`: a depot takes another key; signed by the one before. */
export const newKeyRequestSchema = z.strictObject({
  publicKey,
  /** By the new key, over `newKeyText`. */
  signature: z.string().check(z.regex(/^[A-Za-z0-9_-]{86}$/)),
});
export type NewKeyRequest = z.infer<typeof newKeyRequestSchema>;

/** Answer to both: the key that counts for a depot now. */
export const enrolledAnswerSchema = z.object({ id: depotId, publicKey });
export type EnrolledAnswer = z.infer<typeof enrolledAnswerSchema>;
