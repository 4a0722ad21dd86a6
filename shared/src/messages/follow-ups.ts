/** How a depot asks for a ticket of what a download is led on to. */
import * as z from 'zod/mini';
import { depotIds } from './fields.ts';

/**
 * `POST /v1/depots/<id>/follow-ups`, signed: a ticket of the same job for another URL, which an origin
 * redirects to. With `avoid`, a new plan as well: its chains begin with the asking depot and pass none of
 * those that failed. What a newer depot says more is left out.
 */
export const followUpRequestSchema = z.object({
  ticket: z.string(),
  url: z.string(),
  avoid: z.optional(depotIds),
});
export type FollowUpRequest = z.infer<typeof followUpRequestSchema>;

export const followUpAnswerSchema = z.object({ ticket: z.string() });
export type FollowUpAnswer = z.infer<typeof followUpAnswerSchema>;
