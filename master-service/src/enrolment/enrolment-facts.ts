import { DEPOT_ID, JOIN_TOKEN_ID, PUBLIC_KEY } from '@longhaul/shared';
import * as z from 'zod';
import type { FactKind } from '../facts/fact.ts';

/** Depots of one overlay; a directory of so many is about 200 KB. */
export const MAX_DEPOTS = 1_000;
/**
 * A depot is heard by one master after the other: so many may each speak of all depots. That many facts of
 * 300 bytes are 10 MB for each kind.
 */
export const DEPOT_SPEAKERS = 32;
/** Join tokens that one master has made and that are remembered at once: an overlay's depots, all at once. */
const MOST_TOKENS = 1_000;
/** How long a join token may live at most, and is remembered: nobody keeps one for later. */
export const LONGEST_TOKEN_MS = 31 * 86_400_000;
/**
 * Keys that a depot may have by one token, one after the other: one a month for eight years. All of them are
 * remembered, or one that was copied could hide behind many.
 */
export const MOST_KEYS_BY_TOKEN = 100;
/** Characters of a key by which it is remembered, and told each second: 96 bits. */
const KEY_START_CHARS = 16;
/** Revoked keys that one master has learned of: a few for each depot there can be. They are remembered for ever. */
const MOST_REVOKED = 4_000;

const publicKey = z.string().regex(PUBLIC_KEY);
const depot = z.string().regex(DEPOT_ID);

/** Of these there is one for each join token, by its id. */
const ofTokens = {
  keys: JOIN_TOKEN_ID,
  most: MOST_TOKENS,
  whenFull: 'refuse',
  lifeMs: LONGEST_TOKEN_MS,
  // All that is here has a file of its own, which is written at once.
  isKept: false,
} as const;

/** A join token that an operator has made: the public half of it, and what it is good for. */
export const JOIN_TOKEN = {
  ...ofTokens,
  name: 'join-token',
  schema: z.looseObject({
    publicKey,
    /** The site whose depots may use it; left out, those of any. */
    site: depot.optional(),
    /** The one depot that may use it, also in the place of one with another key; left out, any new one. */
    depot: depot.optional(),
    /** From when it was made. */
    lifeMs: z.number().min(0).max(LONGEST_TOKEN_MS),
  }),
} satisfies FactKind<unknown>;

/** A join token that its operator has taken back. */
export const JOIN_TOKEN_REVOKED = {
  ...ofTokens,
  name: 'join-token-revoked',
  schema: z.looseObject({}),
} satisfies FactKind<unknown>;

/** Who has joined with a token. Two masters that could not hear each other may have taken it from two. */
export const JOIN_TOKEN_USED = {
  ...ofTokens,
  name: 'join-token-used',
  schema: z.looseObject({ depot, publicKey }),
} satisfies FactKind<unknown>;

/** The key of a depot that has joined. One that was revoked goes when there is no room for another depot's. */
export const DEPOT_ENROLLED = {
  keys: DEPOT_ID,
  most: MAX_DEPOTS,
  // Each of them may have taken a depot's next key.
  speakers: DEPOT_SPEAKERS,
  whenFull: 'refuse',
  lifeMs: Number.POSITIVE_INFINITY,
  isKept: false,
  name: 'depot-enrolled',
  schema: z.looseObject({
    publicKey,
    site: depot,
    /** The token that it has joined with. */
    token: z.string().regex(JOIN_TOKEN_ID),
    /** Counts the keys of this depot: of those by one token the newest one counts. */
    generation: z.int().min(1),
    /**
     * How it has joined: when, Unix milliseconds by the clock of the master that took it in, and whether the
     * token names it. Older masters do not tell.
     */
    joined: z.looseObject({ atMs: z.number(), byName: z.boolean() }).optional(),
    /** How the keys begin that it has had by this token, in their order. Older masters do not tell. */
    earlier: z.array(z.string().max(KEY_START_CHARS)).max(MOST_KEYS_BY_TOKEN).optional(),
  }),
} satisfies FactKind<unknown>;

/** The key that a depot's id belongs to for good where it has not joined: it has proved an address once. */
export const DEPOT_OWNED = {
  keys: DEPOT_ID,
  most: MAX_DEPOTS,
  speakers: DEPOT_SPEAKERS,
  whenFull: 'refuse',
  lifeMs: Number.POSITIVE_INFINITY,
  isKept: false,
  name: 'depot-owned',
  // Raw Ed25519, base64url.
  schema: z.looseObject({ publicKey: z.string().max(300) }),
} satisfies FactKind<unknown>;

/** A key that is nobody's any more, by itself. What is said of it here nobody takes back. */
export const DEPOT_KEY_REVOKED = {
  keys: PUBLIC_KEY,
  most: MOST_REVOKED,
  whenFull: 'refuse',
  lifeMs: Number.POSITIVE_INFINITY,
  isKept: false,
  name: 'depot-key-revoked',
  schema: z.looseObject({
    depot,
    /**
     * The token that it had joined with; left out where it had not. Keys that came after it by the same token
     * are revoked, too.
     */
    token: z.string().regex(JOIN_TOKEN_ID).optional(),
  }),
} satisfies FactKind<unknown>;

/** How a raw public key, base64url, begins: enough to tell it from all others. */
export function keyStart(key: string): string {
  return key.slice(0, KEY_START_CHARS);
}

export const ENROLMENT_FACTS: readonly FactKind<unknown>[] = [
  JOIN_TOKEN,
  JOIN_TOKEN_REVOKED,
  JOIN_TOKEN_USED,
  DEPOT_ENROLLED,
  DEPOT_KEY_REVOKED,
];
