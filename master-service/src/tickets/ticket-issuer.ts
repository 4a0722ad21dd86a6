import { randomBytes } from 'node:crypto';
import {
  type Chain,
  type ChainPromise,
  decodeTicket,
  hashAuthority,
  hashOriginUrl,
  isEntryDepot,
  issueTicket,
  type OriginUrl,
  ok,
  type Result,
  refuse,
  type TicketClaims,
  type TicketKind,
  ticketPhase,
  verifyTicket,
} from '@longhaul/shared';
import { sha256, type VerifySignature } from '@longhaul/shared/service';
import type { TicketsConfig } from '../config.ts';
import type { Signer } from '../keys/key-ring.ts';
import type { EntryGroups } from './entry-groups.ts';

/** Enough that two jobs of one week never share an id, and short in tickets and logs. */
const JOB_ID_BYTES = 8;
/** Ids are drawn for so many jobs at once: most of a draw's cost is not its bytes'. */
const JOB_IDS_AT_ONCE = 512;
/**
 * A tunnel's ticket is for a server and not for a file, and browsers ask for another one each half an hour:
 * it lives no longer.
 */
const TUNNEL_SECONDS = 86_400;

export interface TicketOrder {
  readonly jobId: string;
  readonly kind: TicketKind;
  readonly url: OriginUrl;
  /** The plan, then its alternatives. */
  readonly chains: readonly Chain[];
  /** One for each of `chains`. */
  readonly promises: readonly ChainPromise[];
  /** The entry group whose depots may all be its entry depot. */
  readonly group?: string | undefined;
  readonly lanes: number;
  readonly budgetBytes: number;
}

export interface IssuedTicket {
  readonly ticket: string;
  readonly claims: TicketClaims;
}

/** Issues this master's tickets, and recognises them and those of other masters. */
export class TicketIssuer {
  readonly #config: TicketsConfig;
  readonly #signer: Signer;
  readonly #verifierOf: (keyId: string) => VerifySignature | undefined;
  readonly #groups: Pick<EntryGroups, 'has'>;
  #drawn = Buffer.alloc(0);
  #used = 0;

  /** `verifierOf` knows the keys of all masters, and this one's before: their tickets are as good. */
  constructor(
    config: TicketsConfig,
    signer: Signer,
    groups: Pick<EntryGroups, 'has'>,
    verifierOf: (keyId: string) => VerifySignature | undefined = () => undefined,
  ) {
    this.#config = config;
    this.#groups = groups;
    this.#signer = signer;
    this.#verifierOf = verifierOf;
  }

  newJobId(): string {
    if (this.#drawn.length - this.#used < JOB_ID_BYTES) {
      this.#drawn = randomBytes(JOB_IDS_AT_ONCE * JOB_ID_BYTES);
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += JOB_ID_BYTES;
    return this.#drawn.toString('base64url', from, this.#used);
  }

  /**
   * The budget that a download, or a tunnel, should have; `sizeBytes` is `undefined` where the size is only
   * assumed. Where it `mayBeMore`, no less than for an unknown size: one that is remembered, or stands in a
   * link, may have grown, and of many machines behind one address nobody knows how many there are.
   */
  wantedBudgetBytes(kind: TicketKind, sizeBytes: number | undefined, mayBeMore: boolean): number {
    const { budgetFactor, minimumBudgetBytes, unknownSizeBudgetBytes, tunnelBudgetBytes } = this.#config;
    if (kind === 'tunnel') return tunnelBudgetBytes;
    if (sizeBytes === undefined) return unknownSizeBudgetBytes;
    const leastBytes = Math.max(minimumBudgetBytes, mayBeMore ? unknownSizeBudgetBytes : 0);
    return Math.min(Math.max(leastBytes, Math.ceil(sizeBytes * budgetFactor)), Number.MAX_SAFE_INTEGER);
  }

  /** Until when a download that is planned now may begin, in Unix seconds. */
  lastStart(nowSeconds: number): number {
    return nowSeconds + this.#config.startSeconds;
  }

  issue(order: TicketOrder, nowSeconds: number): IssuedTicket {
    const claims: TicketClaims = {
      jobId: order.jobId,
      kind: order.kind,
      ...hashesOf(order.url),
      chains: order.chains,
      promises: order.promises,
      ...(order.group === undefined ? {} : { group: order.group }),
      lanes: order.lanes,
      budgetBytes: order.budgetBytes,
      budgetConnections:
        this.#config[order.kind === 'tunnel' ? 'tunnelBudgetConnections' : 'budgetConnections'],
      issuedAt: nowSeconds,
      lastStart: this.lastStart(nowSeconds),
      endOfLife: nowSeconds + this.#lifeSeconds(order.kind),
    };
    return { ticket: this.#sign(claims), claims };
  }

  #lifeSeconds(kind: TicketKind): number {
    const { lifeSeconds, startSeconds } = this.#config;
    return kind === 'tunnel' ? Math.min(lifeSeconds, Math.max(TUNNEL_SECONDS, startSeconds)) : lifeSeconds;
  }

  /**
   * Reads a ticket that the entry depot `depot` presents. Refuses tickets that are no master's, not alive, or
   * do not name it, or its entry group, as one to begin at.
   */
  open(ticket: string, depot: string, nowSeconds: number): Result<TicketClaims> {
    const claims = this.read(ticket, nowSeconds);
    if (!claims.ok) return claims;
    if (claims.value.kind === 'tunnel') return refuse('ticket-wrong-kind');
    const { group } = claims.value;
    const isOfGroup = group !== undefined && this.#groups.has(group, depot);
    return isOfGroup || isEntryDepot(claims.value, depot) ? claims : refuse('ticket-wrong-depot');
  }

  /** Reads a ticket that anybody presents. Refuses those that are no master's, or not alive. */
  read(ticket: string, nowSeconds: number): Result<TicketClaims> {
    const decoded = decodeTicket(ticket);
    if (!decoded.ok) return decoded;
    const { keyId } = decoded.value;
    const { current } = this.#signer;
    const verify = keyId === current.keyId ? current.verify : this.#verifierOf(keyId);
    const verified = verifyTicket(decoded.value, verify);
    if (!verified.ok) return verified;
    const claims = verified.value;
    const phase = ticketPhase(claims, nowSeconds);
    if (phase === 'future') return refuse('ticket-not-yet-valid');
    if (phase === 'over') return refuse('ticket-expired');
    return ok(claims);
  }

  /** The ticket of the same job for `url`, over these chains alone, at no entry group: budgets and times stay. */
  reissue(
    claims: TicketClaims,
    url: OriginUrl,
    { chains, promises }: Pick<TicketClaims, 'chains' | 'promises'>,
  ): string {
    return this.#sign({ ...claims, ...hashesOf(url), chains, promises, group: undefined });
  }

  #sign(claims: TicketClaims): string {
    const { keyId, sign } = this.#signer.current;
    return issueTicket(claims, keyId, sign);
  }
}

/** The hash that tickets and size reports know a URL by. */
export function urlHashOf(url: OriginUrl): string {
  return hashOriginUrl(url, sha256);
}

function hashesOf(url: OriginUrl): Pick<TicketClaims, 'urlHash' | 'authorityHash'> {
  return { urlHash: urlHashOf(url), authorityHash: hashAuthority(url.host, url.port, sha256) };
}
