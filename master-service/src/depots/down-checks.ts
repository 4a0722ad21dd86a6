import { Checks, isOwnFault, ownFaultCode } from '@longhaul/shared/service';
import type { EmitEvent } from '../events.ts';
import type { AskDepot } from './ask-depot.ts';
import type { DepotRegistry } from './depot-registry.ts';

/** A depot that lives answers within a round trip and a turn of its event loop. */
const ANSWER_MS = 2_000;
/**
 * Between two checks of one depot: 40 a minute, of the 60 challenges that a depot answers to one address of a
 * master.
 */
const PAUSE_MS = 1_500;
/** Depots checked in the same while: a site's depots that are lost together. */
const MOST_CHECKS = 64;

interface DownChecksInit {
  readonly registry: DepotRegistry;
  readonly ask: AskDepot;
  readonly now: () => number;
  readonly emit: EmitEvent;
  /** Told that a depot lives which the depot `by` could not reach. */
  readonly onUnreached: (by: string, id: string, nowMs: number) => void;
}

/**
 * Finds out at once that a depot is gone, where something speaks for it: its connection to this master has
 * broken, a neighbour could not reach it, or a client comes back. None of them is believed: the depot itself
 * is asked, and what answers is there. Where this master could ask nobody, nothing is found out.
 */
export class DownChecks {
  readonly #init: DownChecksInit;
  /** Depots that speak against another one and have not been told of yet, by the other one. */
  readonly #saidBy = new Map<string, Set<string>>();
  /** Those that have made the running look necessary. */
  readonly #askedFor = new Map<string, Set<string>>();
  readonly #checks = new Checks({ check: (id) => this.#check(id), pauseMs: PAUSE_MS, most: MOST_CHECKS });

  constructor(init: DownChecksInit) {
    this.#init = init;
  }

  /**
   * Has a depot that counts as up asked whether it is there; `by` is the depot that could not reach it, where
   * one says so.
   */
  suspect(id: string, by?: string): void {
    if (!this.#init.registry.whereUp(id, this.#init.now())) return;
    if (by !== undefined) this.#saidBy.set(id, (this.#saidBy.get(id) ?? new Set()).add(by));
    this.#checks.ask(id);
  }

  /** Takes back what a depot has said against another one: it has connected to it since. */
  noteReached(id: string, by: string): void {
    for (const said of [this.#saidBy, this.#askedFor]) said.get(id)?.delete(by);
  }

  close(): void {
    this.#checks.close();
  }

  async #check(id: string): Promise<void> {
    const { registry, ask, now, emit, onUnreached } = this.#init;
    const saidBy = this.#saidBy.get(id) ?? new Set();
    this.#saidBy.delete(id);
    this.#askedFor.set(id, saidBy);
    const askedAtMs = now();
    const where = registry.whereUp(id, askedAtMs);
    if (!where) {
      this.#askedFor.delete(id);
      return;
    }
    const { record, addresses } = where;
    try {
      const answer = await ask(record, { addresses, timeoutMs: ANSWER_MS });
      // Whoever answers something else is there, too.
      if (answer.ok || answer.error.code !== 'depot-unreachable') {
        for (const by of saidBy) onUnreached(by, id, now());
        return;
      }
      if (isOwnFault(answer.error)) {
        const { detail } = answer.error;
        emit({ type: 'depot-not-asked', depot: id, code: ownFaultCode(answer.error), detail });
      } else if (registry.noteDown(record, askedAtMs, now())) emit({ type: 'depot-down', depot: id });
    } catch (error) {
      emit({ type: 'failed', error });
    } finally {
      this.#askedFor.delete(id);
    }
  }
}
