import { type Result, refuse } from '@longhaul/shared';
import type { DepotSources } from '@longhaul/shared/service';
import type { EmitEvent } from '../events.ts';
import type { AskDepot } from './ask-depot.ts';
import type { DepotRegistry } from './depot-registry.ts';
import type { DepotRecord } from './depot-store.ts';

/** Depots asked at once; the others are asked with their next heartbeat. */
const MOST_AT_ONCE = 16;

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
  readonly #running = new Map<string, Promise<void>>();

  constructor(init: AddressProverInit) {
    this.#init = init;
  }

  /** Asks a depot for its proof, if that is due. Resolves when there is an outcome, or nothing to ask; never rejects. */
  prove(id: string): Promise<void> {
    const running = this.#running.get(id);
    if (running) return running;
    const record = this.#init.registry.dueProof(id, this.#init.now());
    if (!record || this.#running.size >= MOST_AT_ONCE) return Promise.resolve();
    const asking = this.#prove(record)
      .catch((error: unknown) => this.#init.emit({ type: 'failed', error }))
      .finally(() => this.#running.delete(id));
    this.#running.set(id, asking);
    return asking;
  }

  /** Asks once, for nobody's record; `too-many-challenges` when as many as may be are asked. */
  async tryOut(record: DepotRecord): Promise<Result<readonly string[]>> {
    const key = `trial of ${record.id}`;
    if (this.#running.has(key) || this.#running.size >= MOST_AT_ONCE) return refuse('too-many-challenges');
    const asking = this.#init.ask(record);
    this.#running.set(
      key,
      asking.then(() => undefined),
    );
    return asking.finally(() => this.#running.delete(key));
  }

  async #prove(record: DepotRecord): Promise<void> {
    const { registry, ask, sources, now, emit } = this.#init;
    const outcome = await ask(record);
    const depot = record.id;
    const before = registry.view(depot, now())?.state;
    await registry.noteProof(record, outcome, now());
    if (!outcome.ok) {
      const { code, detail } = outcome.error;
      emit({ type: 'depot-not-proved', depot, code, detail });
      return;
    }
    for (const address of outcome.value) sources.note(address, now());
    emit({ type: 'depot-proved', depot, isRenewed: before !== 'unproved' });
  }
}
