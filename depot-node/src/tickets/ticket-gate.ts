import { decodeTicket, ok, type Result, type TicketClaims, verifyTicket } from '@longhaul/shared';
import type { VerifySignature } from '@longhaul/shared/service';

interface TicketGateComponents {
  readonly masterKey: (keyId: string) => VerifySignature | undefined;
  /** Asks the master for new keys; does nothing if that happened lately. */
  readonly refetchKeys: () => Promise<void>;
}

/** A verified ticket with its text, which the next depots want to see themselves. */
export interface OpenTicket {
  readonly text: string;
  readonly claims: TicketClaims;
}

/** Tickets remembered for one connection; a client has no reason to use more. */
const TICKETS_PER_CONNECTION = 16;

/** Verifies tickets, each once per connection: kept connections carry many ranges of one download. */
export class TicketGate {
  readonly #components: TicketGateComponents;
  readonly #verified = new WeakMap<object, Map<string, OpenTicket>>();

  constructor(components: TicketGateComponents) {
    this.#components = components;
  }

  /** Verifies the text of a ticket that came over this connection. */
  async open(text: string, connection: object): Promise<Result<OpenTicket>> {
    const seen = this.#verified.get(connection) ?? new Map<string, OpenTicket>();
    const known = seen.get(text);
    if (known) return ok(known);
    const decoded = decodeTicket(text);
    if (!decoded.ok) return decoded;
    const { keyId } = decoded.value;
    if (!this.#components.masterKey(keyId)) await this.#components.refetchKeys();
    const verified = verifyTicket(decoded.value, this.#components.masterKey(keyId));
    if (!verified.ok) return verified;
    const ticket = { text, claims: verified.value };
    if (seen.size < TICKETS_PER_CONNECTION) {
      seen.set(text, ticket);
      this.#verified.set(connection, seen);
    }
    return ok(ticket);
  }
}
