/** What a master tells its depots: the overlay as it is, and what they are to do. */
import * as z from 'zod/mini';
import { MAX_TEST_BYTES } from '../wire/protocol.ts';
import { base64url, count, depotId, MAX_REVOKED_KEYS, originHost, originPort, publicKey } from './fields.ts';

const depotEntrySchema = z.object({
  id: depotId,
  host: z.string(),
  port: count,
  tls: z.boolean(),
  publicKey,
  /** Where the depot has answered with its key: other depots connect there, and nowhere else. */
  addresses: z.array(z.string()).check(z.minLength(1)),
  state: z.enum(['up', 'draining', 'lost']),
});
export type DepotEntry = z.infer<typeof depotEntrySchema>;

/** A code with its sentence, for the depot's operator. */
const problemSchema = z.object({ code: z.string(), message: z.string() });

/** The group that a depot is in by its master's configuration: clients are led to this name. */
const entryGroupSchema = z.object({ id: depotId, host: originHost, tls: z.boolean() });
export type ToldEntryGroup = z.infer<typeof entryGroupSchema>;

/** What the master thinks of the depot that asks. */
const standingSchema = z.object({
  /** `unproved`: it is registered, but has not answered at its address with its key; nobody is sent there. */
  state: z.enum(['up', 'draining', 'unproved']),
  problem: z.optional(problemSchema),
});
export type Standing = z.infer<typeof standingSchema>;

/** `POST /v1/depots/trial`: what would come of a registration, with its body and proofs. Nothing is registered. */
export const trialAnswerSchema = z.object({
  /** Why it would be refused. */
  refusal: z.optional(problemSchema),
  /** Why the address would not count. */
  unproved: z.optional(problemSchema),
});
export type TrialAnswer = z.infer<typeof trialAnswerSchema>;

const masterKeySchema = z.object({ keyId: z.string(), publicKey: base64url });
export type MasterKey = z.infer<typeof masterKeySchema>;

/** Answer to a registration and to every heartbeat: all that a depot has to know of the overlay. */
export const directorySchema = z.object({
  self: standingSchema,
  /** How often this master wants to hear of a depot: it counts one as lost after three times as long. */
  heartbeatSeconds: z.optional(z.number().check(z.positive())),
  /** Where the depot that asks is in one. */
  entryGroup: z.optional(entryGroupSchema),
  /** Depots whose addresses are proved. */
  depots: z.array(depotEntrySchema),
  masterKeys: z.array(masterKeySchema),
  /** Public base URLs of the masters, the first one for redirects back. */
  masterUrls: z.array(z.string()).check(z.minLength(1)),
  /** Keys of depots that were revoked, the newest last: whoever has one of them is nobody's neighbour any more. */
  revokedKeys: z.optional(z.array(publicKey).check(z.maxLength(MAX_REVOKED_KEYS))),
  /** To a heartbeat: a link that is hardly known, over which this depot shall fetch so many bytes now. */
  test: z.optional(
    z.object({ from: depotId, bytes: z.number().check(z.int(), z.minimum(1), z.maximum(MAX_TEST_BYTES)) }),
  ),
  /**
   * To a heartbeat: an origin whose distance nobody knows, to which this depot shall open and close a
   * connection now.
   */
  probe: z.optional(z.object({ host: originHost, port: originPort })),
});
export type OriginProbe = NonNullable<z.infer<typeof directorySchema>['probe']>;
export type LinkTest = NonNullable<z.infer<typeof directorySchema>['test']>;
export type Directory = z.infer<typeof directorySchema>;

/** A depot's answer to the question whether it is where it is registered. */
export const challengeAnswerSchema = z.object({
  id: depotId,
  signature: z.string().check(z.regex(/^[A-Za-z0-9_-]{86}$/)),
});
export type ChallengeAnswer = z.infer<typeof challengeAnswerSchema>;
