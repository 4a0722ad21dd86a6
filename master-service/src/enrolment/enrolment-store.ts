import { LonghaulError } from '@longhaul/shared';
import type { StateFolder } from '@longhaul/shared/service';
import * as z from 'zod';
import { ENROLMENT_FACTS } from './enrolment-facts.ts';

const FILE = 'enrolment.json';

const fileSchema = z.object({
  facts: z.array(
    z.object({
      kind: z.string(),
      key: z.string(),
      timeMs: z.number(),
      value: z.unknown(),
      /** Which master has told it, and its stamp; left out by the first versions. */
      source: z.string().optional(),
      epoch: z.int().optional(),
      sequence: z.int().optional(),
    }),
  ),
});

/** One thing that is known of tokens, depots' keys and revoked ones, whoever has told it. */
export type KeptEnrolment = z.output<typeof fileSchema>['facts'][number];

/** Where join tokens, depots' keys and revoked keys outlive the process. */
export interface EnrolmentStore {
  readonly load: () => readonly KeptEnrolment[];
  /** Replaces everything that was kept before. */
  readonly save: (facts: readonly KeptEnrolment[]) => Promise<void>;
}

/**
 * Keeps them as one JSON file in the state folder. `load` throws `state-damaged`: without it,
 * revoked keys would count again.
 */
export class FileEnrolmentStore implements EnrolmentStore {
  readonly #state: StateFolder;

  constructor(state: StateFolder) {
    this.#state = state;
  }

  load(): readonly KeptEnrolment[] {
    const text = this.#state.read(FILE);
    if (text === undefined) return [];
    try {
      const { facts } = fileSchema.parse(JSON.parse(text));
      for (const { kind, key, value } of facts) {
        const known = ENROLMENT_FACTS.find(({ name }) => name === kind);
        if (!known?.keys.test(key)) throw new Error(`${kind} ${key}`);
        known.schema.parse(value);
      }
      return facts;
    } catch (cause) {
      const detail = `${FILE}; where there is no copy take another master's: without it revoked keys would count again`;
      throw new LonghaulError('state-damaged', { detail, cause });
    }
  }

  save(facts: readonly KeptEnrolment[]): Promise<void> {
    return this.#state.save(FILE, `${JSON.stringify({ facts }, undefined, 2)}\n`);
  }
}

/** Keeps them for the life of the process; for tests. */
export class MemoryEnrolmentStore implements EnrolmentStore {
  #facts: readonly KeptEnrolment[] = [];

  load(): readonly KeptEnrolment[] {
    return this.#facts;
  }

  async save(facts: readonly KeptEnrolment[]): Promise<void> {
    this.#facts = facts;
  }
}
