import {
  type Directory,
  type FollowUpAnswer,
  type FollowUpRequest,
  type HeartbeatRequest,
  type MasterKey,
  ok,
  parseOriginUrl,
  type RegisterRequest,
  type Result,
} from '@longhaul/shared';
import type { EmitEvent } from '../events.ts';
import type { LinkTable } from '../planning/link-table.ts';
import type { SizeMemory } from '../planning/size-memory.ts';
import type { DownloadPolicy } from '../policy/download-policy.ts';
import type { TicketIssuer } from '../tickets/ticket-issuer.ts';
import type { DepotRegistry } from './depot-registry.ts';

interface DepotServiceInit {
  readonly registry: DepotRegistry;
  readonly links: LinkTable;
  readonly sizes: SizeMemory;
  readonly policy: DownloadPolicy;
  readonly tickets: TicketIssuer;
  readonly masterKeys: readonly MasterKey[];
  readonly publicUrl: () => string;
  readonly emit: EmitEvent;
}

/** What depots ask their master for, once their requests have been authenticated. */
export class DepotService {
  readonly #init: DepotServiceInit;

  constructor(init: DepotServiceInit) {
    this.#init = init;
  }

  /** Takes in a registration; `depotTimeMs` orders those of one depot. */
  async register(request: RegisterRequest, depotTimeMs: number, nowMs: number): Promise<Result<Directory>> {
    const registered = await this.#init.registry.register(request, depotTimeMs, nowMs);
    if (!registered.ok) return registered;
    this.#init.emit({ type: 'depot-registered', depot: request.id });
    return ok(this.#directory(nowMs));
  }

  /** Takes in state, link estimates and sizes; `depotTimeMs` orders the heartbeats of one depot. */
  hear(id: string, heartbeat: HeartbeatRequest, depotTimeMs: number, nowMs: number): Directory {
    const { registry, links, sizes, emit } = this.#init;
    if (registry.hear(id, heartbeat, depotTimeMs, nowMs)) {
      // Only of links between two registered depots: so the table is bounded, and no depot speaks for clients or origins.
      for (const report of heartbeat.links) {
        if (report.to !== id && registry.record(report.to)) links.report(id, report, nowMs);
      }
      sizes.remember(heartbeat.sizes);
      emit({ type: 'depot-heard', depot: id });
    }
    return this.#directory(nowMs);
  }

  /**
   * A ticket for the target of a redirect. Scheme, port and address must be permitted; the list of origins does not
   * apply, because an allowed origin vouches for where it redirects to.
   */
  followUp(id: string, request: FollowUpRequest, nowMs: number): Result<FollowUpAnswer> {
    const url = parseOriginUrl(request.url);
    if (!url.ok) return url;
    const target = this.#init.policy.checkTarget(url.value);
    if (!target.ok) return target;
    const ticket = this.#init.tickets.followUp(request.ticket, id, url.value, Math.floor(nowMs / 1000));
    return ticket.ok ? ok({ ticket: ticket.value }) : ticket;
  }

  #directory(nowMs: number): Directory {
    const { registry, masterKeys, publicUrl } = this.#init;
    return { depots: registry.entries(nowMs), masterKeys: [...masterKeys], masterUrls: [publicUrl()] };
  }
}
