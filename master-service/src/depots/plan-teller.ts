import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type Chain, encodeBase64url, formatNoticeTarget, noticeText } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';
import type { Signer } from '../keys/key-ring.ts';
import type { DepotRecord } from './depot-store.ts';
import { requestDepot } from './request-depot.ts';

/** One depot is told of the same neighbour at most so often: a connection that waits is soon taken by a busy chain. */
const TELL_INTERVAL_MS = 250;
/** Notices under way at once; what is beyond is not told. A notice that comes late is of no use. */
const MOST_UNDER_WAY = 64;
/** Longer than any notice may be of use. */
const TELL_TIMEOUT_MS = 2_000;
/** A depot that answers otherwise than expected knows no notices: it is asked again after this. */
const DEAF_MS = 600_000;
/** Pairs of depots remembered. */
const MOST_PAIRS = 10_000;

interface PlanTellerInit {
  readonly signer: Signer;
  readonly registry: {
    readonly record: (id: string) => DepotRecord | undefined;
    readonly provedAddress: (id: string, nowMs: number) => string | undefined;
  };
  readonly now: () => number;
}

/**
 * Tells the depots of a chain that a client is about to come, so that they connect to each other while it is redirected. Whether
 * it arrives changes nothing but how soon the first byte comes, so nothing is repeated and no failure told.
 */
export class PlanTeller {
  readonly #init: PlanTellerInit;
  /** A notice is no secret, and proves itself: whoever answers in a depot's place learns which neighbour it has. */
  readonly #agents = {
    http: new HttpAgent({ keepAlive: true }),
    https: new HttpsAgent({ keepAlive: true, rejectUnauthorized: false }),
  };
  readonly #toldAtMs = new LruMap<string, number>(MOST_PAIRS);
  readonly #deafUntilMs = new LruMap<string, number>(MOST_PAIRS);
  #underWay = 0;

  constructor(init: PlanTellerInit) {
    this.#init = init;
  }

  /** Tells every depot of a chain but the last which one comes behind it. Resolves when it is done; never rejects. */
  async tell(chain: Chain): Promise<void> {
    const nowMs = this.#init.now();
    // Of most chains all were told a moment ago.
    if (chain.every((id, index) => index === 0 || this.#isTold(`${chain[index - 1]} ${id}`, nowMs))) return;
    await Promise.all(chain.slice(1).map((next, index) => this.#tellOne(chain[index] ?? '', next)));
  }

  #isTold(pair: string, nowMs: number): boolean {
    return Math.abs(nowMs - (this.#toldAtMs.get(pair) ?? Number.NEGATIVE_INFINITY)) < TELL_INTERVAL_MS;
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  async #tellOne(id: string, next: string): Promise<void> {
    const { registry, now, signer } = this.#init;
    const timeMs = now();
    const pair = `${id} ${next}`;
    if (
      this.#isTold(pair, timeMs) ||
      this.#underWay >= MOST_UNDER_WAY ||
      timeMs < (this.#deafUntilMs.get(id) ?? 0)
    )
      return undefined;
    const record = registry.record(id);
    const address = registry.provedAddress(id, timeMs);
    if (!record || address === undefined) return;
    this.#toldAtMs.set(pair, timeMs);
    const { keyId, sign } = signer.current;
    const signature = encodeBase64url(sign(noticeText(id, { next, timeMs })));
    await this.#send(record, address, formatNoticeTarget({ next, timeMs, keyId, signature }));
  }

  async #send(record: DepotRecord, address: string, path: string): Promise<void> {
    this.#underWay += 1;
    await requestDepot(record, {
      address,
      path,
      timeoutMs: TELL_TIMEOUT_MS,
      agents: this.#agents,
      onAnswer: (answer) => {
        if (answer.statusCode !== 204) this.#deafUntilMs.set(record.id, this.#init.now() + DEAF_MS);
        answer.resume();
      },
    });
    this.#underWay -= 1;
  }
}
