import { decodeTicket, ok, type Result, type TicketClaims, verifyTicket } from '@longhaul/shared';
import type { VerifySignature } from '@longhaul/shared/service';

interface TicketGateComponents {
  readonly masterKey: (keyId: string) => VerifySignature | undefined;
  /** Asks the master for new keys; does nothing if that happened lately. */
  readonly refetchKeys: () => Promise<void>;
}

/** Tickets remembered for one connection; a client has no reason to use more. */
const TICKETS_PER_CONNECTION = 16;

/** Verifies tickets, each once per connection: kept connections carry many ranges of one download. */
export class TicketGate {
  readonly #components: TicketGateComponents;
  readonly #verified = new WeakMap<object, Map<string, TicketClaims>>();

  constructor(components: TicketGateComponents) {
    this.#components = components;
  }

  async open(ticket: string, connection: object): Promise<Result<TicketClaims>> {
    const seen = this.#verified.get(connection) ?? new Map<string, TicketClaims>();
    const known = seen.get(ticket);
    if (known) return ok(known);
    const decoded = decodeTicket(ticket);
    if (!decoded.ok) return decoded;
    const { keyId } = decoded.value;
    if (!this.#components.masterKey(keyId)) await this.#components.refetchKeys();
    const verified = verifyTicket(decoded.value, this.#components.masterKey(keyId));
    if (verified.ok && seen.size < TICKETS_PER_CONNECTION) {
      seen.set(ticket, verified.value);
      this.#verified.set(connection, seen);
    }
    return verified;
  }
}
