import { ok, type Result, refuse } from '@longhaul/shared';
import { readPrefix } from './address.ts';
import { readAsNumber } from './as-number.ts';
import type { PrefixTableData } from './prefix-table.ts';
import { MAX_PREFIXES, PrefixTableBuilder } from './prefix-table-builder.ts';
import { isMmdb, readMmdb } from './read-mmdb.ts';
import { fieldsOf, LineMistakes, quote } from './text-lines.ts';

/**
 * Share of lines without meaning that a table may have: dumps of routers have sets of systems, and routes of
 * their own networks.
 */
const MOST_SKIPPED = 0.05;

/** Which autonomous system announces which prefix. */
export interface AsTableData {
  /** Its values are numbers of autonomous systems. */
  readonly table: PrefixTableData;
  /** Lines, or networks, that were passed over. */
  readonly skipped: number;
}

/**
 * Reads a table of prefixes and autonomous systems: text with `prefix number` on each line, RIPE's riswhois dump
 * (`number prefix peers`), or an MMDB. Lines that say nothing are passed over and counted; `prefixes-invalid` when that
 * are many, or when there is nothing else. Of two systems for one prefix the first one counts.
 */
export function readAsTable(file: Buffer): Result<AsTableData> {
  return isMmdb(file) ? readMmdb(file) : readText(file);
}

function readText(text: Buffer): Result<AsTableData> {
  const builder = new PrefixTableBuilder();
  const mistakes = new LineMistakes();
  for (const [line, [one = '', other = '']] of fieldsOf(text)) {
    const [prefixText, asText] = other.includes('/') ? [other, one] : [one, other];
    const prefix = readPrefix(prefixText);
    const asNumber = readAsNumber(asText);
    if (typeof prefix === 'string') mistakes.note(line, prefix.replace(/^'.*'/, quote(prefixText)));
    else if (asNumber === undefined)
      mistakes.note(line, `${quote(asText)} is no number of an autonomous system`);
    // A default route says nothing about who is where.
    else if (prefix.length === 0) mistakes.note(line, 'a default route belongs to nobody');
    else if (builder.size >= MAX_PREFIXES)
      return refuse('prefixes-invalid', `more than ${MAX_PREFIXES} prefixes`);
    else builder.add(prefix, asNumber);
  }
  const { count: skipped } = mistakes;
  if (builder.size === 0 && skipped === 0) return refuse('prefixes-invalid', 'there is no prefix in it');
  return skipped > MOST_SKIPPED * (builder.size + skipped)
    ? refuse('prefixes-invalid', mistakes.told.join('; '))
    : ok({ table: builder.build(), skipped });
}
