import { ok, type Result, refuse } from '@longhaul/shared';
import type { EmitEvent } from '../events.ts';
import type { Facts } from '../facts/facts.ts';
import { JOIN_TOKEN, JOIN_TOKEN_REVOKED, JOIN_TOKEN_USED } from './enrolment-facts.ts';

/** What a token is good for; the public half of it. */
interface NewToken {
  readonly id: string;
  readonly publicKey: string;
  readonly site?: string | undefined;
  readonly depot?: string | undefined;
  readonly lifeMs: number;
}

/** One token as operators see it. */
interface ListedToken {
  readonly id: string;
  readonly site?: string | undefined;
  readonly depot?: string | undefined;
  readonly state: 'open' | 'used' | 'expired' | 'revoked';
  /** Until when it can be used, ISO 8601. */
  readonly until: string;
  /** Who has joined with it. */
  readonly usedBy?: string;
}

interface JoinTokensInit {
  readonly facts: Facts;
  readonly emit: EmitEvent;
  /** Writes down what is known now; rejects with `state-unusable`. */
  readonly save: () => Promise<void>;
}

/** The tokens that depots join with, as operators make them, see them and take them back. */
export class JoinTokens {
  readonly #facts: Facts;
  readonly #emit: EmitEvent;
  readonly #save: () => Promise<void>;

  constructor({ facts, emit, save }: JoinTokensInit) {
    this.#facts = facts;
    this.#emit = emit;
    this.#save = save;
  }

  /** Takes in a new token; `join-tokens-full`. */
  async create({ id, ...token }: NewToken, nowMs: number): Promise<Result<void>> {
    if (!this.#facts.learn(JOIN_TOKEN, id, token, nowMs)) return refuse('join-tokens-full');
    this.#emit({ type: 'enrolment', what: 'token-created', token: id });
    await this.#save();
    return ok(undefined);
  }

  /** All tokens that are remembered, the newest first. */
  list(nowMs: number): ListedToken[] {
    const byId = new Map(this.#facts.store.held(JOIN_TOKEN).map((fact) => [fact.key, fact]));
    return [...byId.values()]
      .toSorted((one, other) => other.timeMs - one.timeMs)
      .map(({ key: id, timeMs, value: { site, depot, lifeMs } }) => {
        const usedBy = this.#facts.store.newest(JOIN_TOKEN_USED, id)?.value.depot;
        const isRevoked = this.#facts.store.newest(JOIN_TOKEN_REVOKED, id) !== undefined;
        const isOver = nowMs - timeMs > lifeMs;
        return {
          id,
          ...(site === undefined ? {} : { site }),
          ...(depot === undefined ? {} : { depot }),
          state: usedBy === undefined ? (isRevoked ? 'revoked' : isOver ? 'expired' : 'open') : 'used',
          until: new Date(timeMs + lifeMs).toISOString(),
          ...(usedBy === undefined ? {} : { usedBy }),
        };
      });
  }

  /** Takes a token back, so that nobody joins with it any more; `join-token-unknown`. Who has joined stays. */
  async revoke(id: string, nowMs: number): Promise<Result<void>> {
    if (!this.#facts.store.newest(JOIN_TOKEN, id)) return refuse('join-token-unknown');
    if (!this.#facts.learn(JOIN_TOKEN_REVOKED, id, {}, nowMs)) return refuse('join-tokens-full');
    this.#emit({ type: 'enrolment', what: 'token-revoked', token: id });
    await this.#save();
    return ok(undefined);
  }

  /** The key that signs requests to join with a token; `undefined` where nobody knows the token. */
  keyOf(id: string): string | undefined {
    return this.#facts.store.newest(JOIN_TOKEN, id)?.value.publicKey;
  }
}
