import { ADDRESS_FAMILIES, DEPOT_ID } from '@longhaul/shared';
import * as z from 'zod';
import { DEPOT_OWNED, DEPOT_SPEAKERS, MAX_DEPOTS } from '../enrolment/enrolment-facts.ts';
import type { FactKind } from '../facts/fact.ts';

/** Characters of a process's epoch, or of an address, that somebody else may have made. */
const MAX_NAME_CHARS = 300;

/** How long is remembered what holds only while a depot is there: one that was not heard for a month has lost it. */
const STATE_LIFE_MS = 31 * 86_400_000;

const name = z.string().max(MAX_NAME_CHARS);
const count = z.int().min(0);
const record = z.looseObject({
  /** Raw Ed25519 public key, base64url. */
  publicKey: name,
  host: name,
  port: z.int().min(0).max(65_535),
  tls: z.boolean(),
});

/** Of these there is one for each depot, by its id. */
const ofDepots = {
  keys: DEPOT_ID,
  most: MAX_DEPOTS,
  speakers: DEPOT_SPEAKERS,
  whenFull: 'refuse',
  lifeMs: Number.POSITIVE_INFINITY,
  // Registrations and proofs have a file of their own, which is written at once.
  isKept: false,
} as const;

/** Of these, too, but nobody needs them of a depot that is gone. */
const ofDepotsThere = { ...ofDepots, lifeMs: STATE_LIFE_MS } as const;

/** What a depot has registered. */
export const DEPOT_REGISTERED = {
  ...ofDepots,
  name: 'depot-registered',
  schema: record,
} satisfies FactKind<unknown>;

/** Where a depot has answered with its key when it was registered so. */
export const DEPOT_PROVED = {
  ...ofDepots,
  name: 'depot-proved',
  schema: z.looseObject({
    ...record.shape,
    addresses: z.array(name).min(1).max(64),
    /** Who has not this family cannot reach it; left out by masters that do not tell. */
    onlyFamily: z.enum(ADDRESS_FAMILIES).optional(),
  }),
} satisfies FactKind<unknown>;

/** Why a depot could not prove the address that it had registered. */
export const DEPOT_NOT_PROVED = {
  ...ofDepotsThere,
  isKept: true,
  name: 'depot-not-proved',
  schema: z.looseObject({ ...record.shape, code: name, detail: name.optional() }),
} satisfies FactKind<unknown>;

/**
 * How the key begins that it was about: another depot of the same id is not heard by it. Not the whole of it,
 * because heartbeats of a thousand depots are told each second. Left out by masters that do not tell.
 */
const ofKey = { keyStart: name.optional() };

/** The last heartbeat, and how steadily the depot was heard by this source. */
export const DEPOT_HEARD = {
  ...ofDepotsThere,
  isKept: true,
  name: 'depot-heard',
  schema: z.looseObject({
    ...ofKey,
    /** The depot's process that counts: the one that registered last. */
    process: name,
    /** Number of its newest heartbeat; 0 when it has only registered. */
    heartbeat: count,
    /**
     * Number of the newest batch of reports that was taken from it; 0, or left out by masters that do not
     * know of these, where there was none.
     */
    batch: count.optional(),
    draining: z.boolean(),
    /** Transfers that it served. */
    activeTransfers: count.optional(),
    /** Whether these carried bytes, or had just begun; left out where it does not say. */
    isMoving: z.boolean().optional(),
    /** The entry group whose tickets it serves. */
    entryGroup: name.optional(),
    /** What its uplink carried and can carry, bits per second; left out where its operator has set no bound. */
    uplink: z.looseObject({ sentBps: z.number().min(0), mostBps: z.number().positive() }).optional(),
    upSeconds: z.number().min(0),
    failures: count,
  }),
} satisfies FactKind<unknown>;

/** Heartbeats of other processes than the one that counts, since there were none for a while. */
export const DEPOT_TWINS = {
  ...ofDepotsThere,
  isKept: true,
  name: 'depot-twins',
  schema: z.looseObject({ ...ofKey, heartbeats: count }),
} satisfies FactKind<unknown>;

/** A depot that was asked whether it is still there, and was not. Counts until it is heard again. */
export const DEPOT_DOWN = {
  ...ofDepotsThere,
  name: 'depot-down',
  schema: z.looseObject({
    ...ofKey,
    /** The process that counted then. */
    process: name,
  }),
} satisfies FactKind<unknown>;

export const DEPOT_FACTS: readonly FactKind<unknown>[] = [
  DEPOT_REGISTERED,
  DEPOT_OWNED,
  DEPOT_PROVED,
  DEPOT_NOT_PROVED,
  DEPOT_HEARD,
  DEPOT_DOWN,
  DEPOT_TWINS,
];
