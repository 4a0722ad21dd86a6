import { createSecureContext } from 'node:tls';

/** What every browser, curl, wget, apt, Node and Java of the last ten years offers at least one of. */
const CHEAP_GROUPS = 'X25519:P-256';
/**
 * The same with what is safe from quantum computers, where this OpenSSL (3.5) has it: an older one takes no
 * list with a name that it does not know.
 */
const NEWER_GROUPS = `X25519MLKEM768:${CHEAP_GROUPS}`;

/**
 * Groups of key agreement that a TLS listener takes, as OpenSSL names them. Its own list has dear ones as
 * well: a hello with a key of P-521, recorded once and sent again and again, costs its sender nothing and the
 * listener 6 ms each, one with X25519 a seventh of that. Clients keep OpenSSL's list: an origin may be odd.
 */
export const LISTENER_GROUPS = isKnown(NEWER_GROUPS) ? NEWER_GROUPS : CHEAP_GROUPS;

function isKnown(groups: string): boolean {
  try {
    createSecureContext({ ecdhCurve: groups });
    return true;
  } catch {
    return false;
  }
}
