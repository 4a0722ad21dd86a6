/** Fields that several messages have, each with its bounds. */
import * as z from 'zod/mini';
import { PUBLIC_KEY } from '../join-token.ts';
import { DEPOT_ID, JOB_ID, MAX_LANES, MAX_LISTED_DEPOTS, NETWORK_PREFIX } from '../wire/protocol.ts';

export const count = z.number().check(z.int(), z.minimum(0));
export const rate = z.number().check(z.minimum(0), z.maximum(1));

/**
 * A measured round trip longer than this is a mistake of measuring, or a lie of the other end: a master
 * refuses the report.
 */
export const MAX_RTT_MS = 60_000;
/** A measured rate above this is one, too: 10 Tbit/s. */
export const MAX_GOODPUT_BPS = 10_000_000_000_000;
/** A rate that was measured. Where less than a bit a second comes nothing is measured. */
export const measuredBps = z.number().check(z.minimum(1), z.maximum(MAX_GOODPUT_BPS));
/** 100 TB: more than any file that people download. */
export const MAX_FILE_BYTES = 100_000_000_000_000;

/** Revoked keys in a directory, and those that a depot remembers: as many as there can be depots. */
export const MAX_REVOKED_KEYS = 1_000;

export const depotId = z.string().check(z.regex(DEPOT_ID));
export const jobId = z.string().check(z.regex(JOB_ID));
export const networkPrefix = z.string().check(z.regex(NETWORK_PREFIX));
export const depotIds = z.array(depotId).check(z.maxLength(MAX_LISTED_DEPOTS));
export const lanes = z.number().check(z.int(), z.minimum(1), z.maximum(MAX_LANES));
/** A raw Ed25519 public key. */
export const publicKey = z.string().check(z.regex(PUBLIC_KEY));
export const base64url = z.string().check(z.regex(/^[A-Za-z0-9_-]+$/), z.maxLength(256));
/** Canonical, an IPv6 literal without brackets. */
export const originHost = z.string().check(z.regex(/^[a-z0-9.:_-]{1,255}$/));
export const originPort = z.number().check(z.int(), z.minimum(1), z.maximum(65535));
/** A job that took longer than this is a mistake of measuring: tickets live for days at most. */
export const MAX_JOB_SECONDS = 10_000_000;
/**
 * What a leg's sender waited for, most of the time: the peer's window, room in the send buffer, the network,
 * or something to send.
 */
export const legLimitSchema = z.enum(['congestion-window', 'receiver', 'send-buffer', 'idle']);
