import {
  claimsInGroup,
  decodeTicket,
  ok,
  type Result,
  refuse,
  type TicketClaims,
  verifyTicket,
} from '@longhaul/shared';
import type { FailedChecks, VerifySignature } from '@longhaul/shared/service';

interface TicketGateComponents {
  /** The same function for as long as the key is the same. */
  readonly masterKey: (keyId: string) => VerifySignature | undefined;
  readonly ownId: string;
  /** The entry group that this depot is in. */
  readonly ownGroup: string | undefined;
  /** Asks the master for new keys; does nothing if that happened lately. */
  readonly refetchKeys: () => Promise<void>;
  readonly failedChecks: FailedChecks;
}

/** A verified ticket with its text, which the next depots want to see themselves. */
export interface OpenTicket {
  readonly text: string;
  readonly claims: TicketClaims;
}

/** A ticket with the key that proved it: nothing is remembered of a key that is no longer the master's. */
interface Verified extends OpenTicket {
  readonly keyId: string;
  readonly verify: VerifySignature;
}

/** Verified tickets remembered, a few KB each: who brings more has them verified again. */
const MOST_REMEMBERED = 2000;

/** Verifies tickets, each once for a while: ranges, lanes and repairs of one download bring the same one many times. */
export class TicketGate {
  readonly #components: TicketGateComponents;
  /** By text, in the order of their last use. Only what a master signed gets in. */
  readonly #verified = new Map<string, Verified>();

  constructor(components: TicketGateComponents) {
    this.#components = components;
  }

  /**
   * Verifies the text of a ticket that somebody at an address shows, or that a master gave. Whether its time
   * has come is for the job table to say. `ticket-checks-spent` where too many from there were forged.
   */
  async open(text: string, from?: string): Promise<Result<OpenTicket>> {
    const known = this.#verified.get(text);
    if (known && this.#components.masterKey(known.keyId) === known.verify) return ok(this.#remember(known));
    const decoded = decodeTicket(text);
    if (!decoded.ok) return decoded;
    const { keyId } = decoded.value;
    if (!this.#components.masterKey(keyId)) await this.#components.refetchKeys();
    const verify = this.#components.masterKey(keyId);
    if (!verify) return refuse('ticket-key-unknown');
    const { failedChecks } = this.#components;
    if (from !== undefined && !failedChecks.hasRoomFor(from)) return refuse('ticket-checks-spent');
    const verified = verifyTicket(decoded.value, verify);
    if (!verified.ok && from !== undefined) failedChecks.note(from);
    if (!verified.ok) return verified;
    const { ownId, ownGroup } = this.#components;
    const claims = claimsInGroup(verified.value, ownId, ownGroup);
    return ok(this.#remember({ text, claims, keyId, verify }));
  }

  #remember(ticket: Verified): OpenTicket {
    this.#verified.delete(ticket.text);
    for (const oldest of this.#verified.keys()) {
      if (this.#verified.size < MOST_REMEMBERED) break;
      this.#verified.delete(oldest);
    }
    this.#verified.set(ticket.text, ticket);
    return ticket;
  }
}
