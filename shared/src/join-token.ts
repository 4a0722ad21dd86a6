import { ok, type Result, refuse } from './result.ts';

/** How the id of a join token looks. */
export const JOIN_TOKEN_ID = /^[A-Za-z0-9_-]{16}$/;
/** A raw Ed25519 public key, base64url. */
export const PUBLIC_KEY = /^[A-Za-z0-9_-]{43}$/;

const TOKEN = /^longhaul-join-1\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/;

/** What a depot joins an overlay with, once. */
export interface JoinToken {
  readonly id: string;
  /** Seed of the Ed25519 key that signs the request to join, base64url. Masters know the public key of it only. */
  readonly seed: string;
  /** The key that answers of this overlay's masters are signed with: by it the depot knows them. */
  readonly overlayKey: string;
}

/** The token as an operator hands it over: `longhaul-join-1.<id>.<seed>.<overlay key>`. */
export function formatJoinToken({ id, seed, overlayKey }: JoinToken): string {
  return `longhaul-join-1.${id}.${seed}.${overlayKey}`;
}

/** Reads a token, with or without white space around it; `join-token-malformed`. */
export function parseJoinToken(text: string): Result<JoinToken> {
  const [, id, seed, overlayKey] = TOKEN.exec(text.trim()) ?? [];
  if (id === undefined || seed === undefined || overlayKey === undefined)
    return refuse('join-token-malformed');
  return ok({ id, seed, overlayKey });
}
