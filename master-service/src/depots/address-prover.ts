import { type Result, refuse } from '@longhaul/shared';
import { couldReachNobody, type DepotSources, ownFaultCode } from '@longhaul/shared/service';
import type { EmitEvent } from '../events.ts';
import type { ProvedPlace } from './address-proof.ts';
import type { AskDepot } from './ask-depot.ts';
import type { DepotRegistry } from './depot-registry.ts';
import type { DepotRecord } from './depot-store.ts';

/** Depots asked at once whose address counts, or has counted: nobody else keeps them from renewing that. */
const MOST_RENEWALS = 64;
/** Depots asked at once that have proved no address yet; the others are asked with their next heartbeat. */
const MOST_NEWCOMERS = 16;
/** Places of depots that are no members, asked at once for who sets one up. */
const MOST_TRIALS = 4;

interface AddressProverInit {
  readonly registry: DepotRegistry;
  readonly ask: AskDepot;
  readonly sources: DepotSources;
  readonly now: () => number;
  readonly emit: EmitEvent;
}

/** Lets depots prove their addresses when that is due: at registration, and from time to time. */
export class AddressProver {
  readonly #init: AddressProverInit;
  readonly #renewals = new Map<string, Promise<void>>();
  readonly #newcomers = new Map<string, Promise<void>>();
  readonly #trials = new Set<string>();

  constructor(init: AddressProverInit) {
    this.#init = init;
  }

  /**
   * Asks a depot for its proof, if that is due. Resolves when there is an outcome, or nothing to ask; never
   * rejects.
   */
  prove(id: string): Promise<void> {
    const { registry, now, emit } = this.#init;
    const asked = this.#renewals.get(id) ?? this.#newcomers.get(id);
    if (asked) return asked;
    const record = registry.dueProof(id, now());
    if (!record) return Promise.resolve();
    const isNew = registry.view(id, now())?.state === 'unproved';
    const running = isNew ? this.#newcomers : this.#renewals;
    if (running.size >= (isNew ? MOST_NEWCOMERS : MOST_RENEWALS)) return Promise.resolve();
    const asking = this.#prove(record)
      .catch((error: unknown) => emit({ type: 'failed', error }))
      .finally(() => running.delete(id));
    running.set(id, asking);
    return asking;
  }

  /** Asks once, for nobody's record; `too-many-challenges` when as many as may be are asked. */
  async tryOut(record: DepotRecord): Promise<Result<ProvedPlace>> {
    if (this.#trials.has(record.id) || this.#trials.size >= MOST_TRIALS) return refuse('too-many-challenges');
    this.#trials.add(record.id);
    return this.#init.ask(record).finally(() => this.#trials.delete(record.id));
  }

  async #prove(record: DepotRecord): Promise<void> {
    const { registry, ask, sources, now, emit } = this.#init;
    const outcome = await ask(record);
    const depot = record.id;
    if (!outcome.ok && couldReachNobody(outcome.error)) {
      // The next heartbeat has it asked again. A family that this master lacks is another thing: it lasts, and
      // who sets the depot up has to know.
      const { detail } = outcome.error;
      emit({ type: 'depot-not-asked', depot, code: ownFaultCode(outcome.error), detail });
      return;
    }
    const before = registry.view(depot, now())?.state;
    await registry.noteProof(record, outcome, now());
    if (!outcome.ok) {
      const { code, detail } = outcome.error;
      emit({ type: 'depot-not-proved', depot, code, detail });
      return;
    }
    for (const address of outcome.value.addresses) sources.note(address, now());
    emit({ type: 'depot-proved', depot, isRenewed: before !== 'unproved' });
  }
}
