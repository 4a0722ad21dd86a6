import { randomBytes } from 'node:crypto';
import { DEFAULT_CIPHERS } from 'node:tls';
import { LISTENER_GROUPS } from '@longhaul/shared/service';
import { type ListenerMaterial, TICKET_KEY_BYTES } from '../tls/tls-context.ts';
import type { RelayThread } from './relay-thread.ts';

/**
 * After this long tickets have other keys: who learns the keys of one time reads no more than what was
 * resumed in it.
 */
const TICKET_KEYS_MS = 43_200_000;
/**
 * Certificates and sets of authorities that threads hold at once: the newest of each, and what is just being
 * renewed.
 */
const MOST_CONTEXTS = 8;

interface KnownContext {
  readonly number: number;
  readonly isServer: boolean;
  readonly threads: Set<RelayThread>;
}

/** What the threads secure connections with, each made where and when it is first needed. */
export class TlsContexts {
  readonly #nowMs: () => number;
  /** By the object that says what it is; the one that was used longest ago first. */
  readonly #known = new Map<object, KnownContext>();
  /** Certificates of listeners that threads accept with: they are asked for by nobody, and yet used. */
  readonly #kept = new Set<object>();
  #next = 1;
  #keys = newKeys();
  #keysMadeMs: number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#keysMadeMs = nowMs();
  }

  /** The number that a thread knows a listener's certificate by. All threads read each other's session tickets. */
  ofListener(thread: RelayThread, material: ListenerMaterial): number {
    this.renewKeys();
    const { cert, key, named = [] } = material;
    return this.#in(thread, material, true, () => ({
      role: 'server' as const,
      cert,
      key,
      named,
      groups: LISTENER_GROUPS,
      ticketKeys: this.#keys,
    }));
  }

  /** Keeps a listener's certificate in all threads that have it, in the place of another one. */
  keep(material: ListenerMaterial | undefined, former: ListenerMaterial | undefined): void {
    if (former) this.#kept.delete(former);
    if (material) this.#kept.add(material);
  }

  /** The same of what a client trusts. */
  ofAuthorities(thread: RelayThread, authorities: readonly string[]): number {
    return this.#in(thread, authorities, false, () => ({ role: 'client' as const, authorities }));
  }

  #in(
    thread: RelayThread,
    key: object,
    isServer: boolean,
    makeSpec: () => Extract<Parameters<RelayThread['tell']>[0], { type: 'add-context' }>['spec'],
  ): number {
    const known = this.#known.get(key) ?? { number: this.#next, isServer, threads: new Set() };
    if (known.number === this.#next) this.#next += 1;
    this.#known.delete(key);
    this.#known.set(key, known);
    if (!known.threads.has(thread)) {
      for (const one of known.threads) if (!one.isAlive()) known.threads.delete(one);
      known.threads.add(thread);
      thread.tell({
        type: 'add-context',
        context: known.number,
        spec: makeSpec(),
        ciphers: DEFAULT_CIPHERS,
      });
    }
    for (const [oldest, { number, threads }] of this.#known) {
      if (this.#known.size - this.#kept.size <= MOST_CONTEXTS) break;
      if (this.#kept.has(oldest)) continue;
      this.#known.delete(oldest);
      for (const holder of threads) holder.tell({ type: 'drop-context', context: number });
    }
    return known.number;
  }

  /** Tickets get other keys where it is time for it. */
  renewKeys(): void {
    if (this.#nowMs() - this.#keysMadeMs < TICKET_KEYS_MS) return;
    this.#keysMadeMs = this.#nowMs();
    this.#keys = newKeys();
    for (const { number, isServer, threads } of this.#known.values()) {
      if (!isServer) continue;
      for (const thread of threads) thread.tell({ type: 'renew-tickets', context: number, keys: this.#keys });
    }
  }
}

function newKeys(): Uint8Array {
  return new Uint8Array(randomBytes(TICKET_KEY_BYTES));
}
