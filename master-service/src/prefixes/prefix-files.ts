import { LonghaulError } from '@longhaul/shared';
import type { EmitEvent, PrefixFile } from '../events.ts';
import type { Address } from './address.ts';
import { type Loaded, loadFile } from './load-file.ts';
import { type Match, PrefixTable } from './prefix-table.ts';
import type { CoveredBy } from './read-coverage.ts';

/** Absolute paths; what is left out is not used. */
export type PrefixPaths = Readonly<Partial<Record<PrefixFile, string | undefined>>>;

/** A table in use. */
export interface TableView {
  readonly file: PrefixFile;
  readonly prefixes: number;
  readonly bytes: number;
}

interface Coverage {
  readonly table: PrefixTable;
  readonly entries: readonly CoveredBy[];
  readonly systems: ReadonlyMap<number, number>;
}

/**
 * The operator's coverage file and the table of autonomous systems, as they were last read without mistakes.
 * Files are read in threads of their own; a new table takes the place of the old one between two requests.
 */
export class PrefixFiles {
  readonly #emit: EmitEvent;
  #paths: PrefixPaths;
  #coverage: Coverage | undefined;
  #asTable: PrefixTable | undefined;
  #reading: Promise<readonly LonghaulError[]> | undefined;

  constructor(paths: PrefixPaths, emit: EmitEvent) {
    this.#paths = paths;
    this.#emit = emit;
  }

  /** Reads all files for the first time. Rejects with `prefixes-invalid` when one of them has mistakes. */
  async start(): Promise<void> {
    const mistakes = await this.#readNext();
    if (mistakes.length === 0) return;
    const detail = mistakes.map((mistake) => `\n  - ${mistake.detail}`).join('');
    throw new LonghaulError('prefixes-invalid', { detail });
  }

  /**
   * Reads all files again; one with mistakes leaves what was there before. Gives whether none has any, and
   * never rejects.
   */
  async reload(paths: PrefixPaths): Promise<boolean> {
    this.#paths = paths;
    // What is being read may be of the old paths, or of files that have changed meanwhile.
    await this.#reading;
    return (await this.#readNext()).length === 0;
  }

  /** Whom the operator's file has at an address: the longest prefix around it. */
  coverage(address: Address): (CoveredBy & Pick<Match, 'prefix'>) | undefined {
    const match = this.#coverage?.table.match(address);
    const entry = match && this.#coverage?.entries[match.value];
    return entry && { ...entry, prefix: match.prefix };
  }

  /** Whom the operator's file has for an autonomous system. */
  systemCoverage(asNumber: number): CoveredBy | undefined {
    return this.#coverage?.entries[this.#coverage.systems.get(asNumber) ?? -1];
  }

  /** Which autonomous system announces an address: the longest prefix around it, with its number as value. */
  system(address: Address): Match | undefined {
    return this.#asTable?.match(address);
  }

  get views(): readonly TableView[] {
    const tables = { coverage: this.#coverage?.table, asTable: this.#asTable };
    return Object.entries(tables).flatMap(([file, table]) =>
      table ? [{ file: file as PrefixFile, prefixes: table.size, bytes: table.bytes }] : [],
    );
  }

  /** Reads, unless somebody has just begun to: one after the other, so that the newest file counts. */
  #readNext(): Promise<readonly LonghaulError[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<readonly LonghaulError[]> {
    const paths = this.#paths;
    const mistakes = await Promise.all([
      this.#take('coverage', paths, (data) => {
        this.#coverage = data && { ...data, table: new PrefixTable(data.table) };
        return { table: this.#coverage?.table, skipped: 0 };
      }),
      this.#take('asTable', paths, (data) => {
        this.#asTable = data && new PrefixTable(data.table);
        return { table: this.#asTable, skipped: data?.skipped ?? 0 };
      }),
    ]);
    return mistakes.filter((mistake) => mistake !== undefined);
  }

  async #take<File extends PrefixFile>(
    file: File,
    paths: PrefixPaths,
    put: (data: Loaded[File] | undefined) => {
      readonly table: PrefixTable | undefined;
      readonly skipped: number;
    },
  ): Promise<LonghaulError | undefined> {
    const path = paths[file];
    if (path === undefined) {
      put(undefined);
      return undefined;
    }
    const read = await loadFile(file, path);
    if (read.ok) {
      const { table, skipped } = put(read.value);
      this.#emit({ type: 'prefixes-loaded', file, prefixes: table?.size ?? 0, skipped });
      return undefined;
    }
    const { error } = read;
    this.#emit({ type: 'prefixes-refused', file, code: error.code, detail: error.detail });
    return error;
  }
}
