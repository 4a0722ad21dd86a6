import { DEPOT_ID, ok, type Result, refuse } from '@longhaul/shared';
import { formatPrefix, readPrefix } from './address.ts';
import { readAsNumber } from './as-number.ts';
import type { PrefixTableData } from './prefix-table.ts';
import { MAX_PREFIXES, PrefixTableBuilder } from './prefix-table-builder.ts';
import { fieldsOf, LineMistakes, quote } from './text-lines.ts';

/** Sites that a file may name: more than the depots that a master takes. */
const MAX_SITES = 10_000;
/** Autonomous systems that a file may name: as many as there are, and some more. */
const MAX_SYSTEMS = 200_000;

/** A site, and whether measurements leave it alone. */
export interface CoveredBy {
  readonly site: string;
  readonly isFixed: boolean;
}

/** What the operator says of prefixes and autonomous systems. */
export interface CoverageData {
  /** Its values are places in `entries`. */
  readonly table: PrefixTableData;
  readonly entries: readonly CoveredBy[];
  /** By the number of the system: places in `entries`. */
  readonly systems: ReadonlyMap<number, number>;
}

/**
 * Reads a coverage file: on each line a prefix, or `AS` and a number, then a site, then perhaps `fixed`.
 * Nothing of a file with mistakes counts: `prefixes-invalid` with line and reason of each.
 */
export function readCoverage(text: Buffer): Result<CoverageData> {
  const builder = new PrefixTableBuilder();
  const entries = new Entries();
  const systems = new Map<number, number>();
  const givenAt = new Map<string, { readonly line: number; readonly entry: number }>();
  const mistakes = new LineMistakes();
  for (const [line, [what = '', site = '', ...marks]] of fieldsOf(text)) {
    const wrong = take(line, what, site, marks);
    if (wrong !== undefined) mistakes.note(line, wrong);
  }
  return mistakes.count > 0
    ? refuse('prefixes-invalid', mistakes.told.join('; '))
    : ok({ table: builder.build(), entries: entries.all, systems });

  /** Says what is wrong with the line. */
  function take(line: number, what: string, site: string, marks: readonly string[]): string | undefined {
    if (site === '') return 'a prefix and a site belong on each line';
    if (!DEPOT_ID.test(site)) return `${quote(site)} cannot be the name of a site`;
    if (marks.length > 1 || (marks[0] ?? 'fixed') !== 'fixed')
      return `${quote(marks.join(' '))} means nothing behind a site: fixed is all that may stand there`;
    const asNumber = what.includes('/') ? undefined : readAsNumber(what);
    const prefix = asNumber === undefined ? readPrefix(what) : undefined;
    if (typeof prefix === 'string') return prefix.replace(/^'.*'/, quote(what));
    const entry = entries.placeOf({ site, isFixed: marks.length > 0 });
    if (entry === undefined) return `more than ${MAX_SITES} sites`;
    const key = prefix ? formatPrefix(prefix) : `AS${asNumber}`;
    const before = givenAt.get(key);
    if (before)
      return before.entry === entry ? undefined : `${key} is given another site in line ${before.line}`;
    if (givenAt.size >= MAX_PREFIXES) return `more than ${MAX_PREFIXES} prefixes`;
    if (prefix) builder.add(prefix, entry);
    else if (systems.size >= MAX_SYSTEMS) return `more than ${MAX_SYSTEMS} autonomous systems`;
    else systems.set(asNumber ?? 0, entry);
    givenAt.set(key, { line, entry });
    return undefined;
  }
}

/** Each site once as it is and once fixed. */
class Entries {
  readonly all: CoveredBy[] = [];
  readonly #places = new Map<string, number>();

  placeOf(entry: CoveredBy): number | undefined {
    const key = `${entry.site} ${entry.isFixed}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    if (this.all.length >= 2 * MAX_SITES) return undefined;
    this.#places.set(key, this.all.length);
    return this.all.push(entry) - 1;
  }
}
