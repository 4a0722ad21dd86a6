/** Lines that are told of when a file has mistakes; of the others only the number is. */
const MOST_TOLD = 20;
/** Characters of a line that are told. */
const MOST_QUOTED = 60;

const NEWLINE = 10;

/** Mistakes of a file, told by line. */
export class LineMistakes {
  readonly #told: string[] = [];
  count = 0;

  note(line: number, why: string): void {
    this.count += 1;
    if (this.#told.length < MOST_TOLD) this.#told.push(`line ${line}: ${why}`);
  }

  /** One sentence each, then how many more there are. */
  get told(): readonly string[] {
    const others = this.count - this.#told.length;
    return others > 0 ? [...this.#told, `and ${others} more`] : this.#told;
  }
}

/**
 * The fields of each line with something in it, and its number from 1 on. What follows `#`, or `%` at its
 * start, is a remark.
 */
export function* fieldsOf(text: Buffer): Generator<readonly [line: number, fields: readonly string[]]> {
  let line = 0;
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf(NEWLINE, from);
    const to = end < 0 ? text.length : end;
    line += 1;
    const [said = ''] = text.toString('latin1', from, to).split('#', 1);
    const fields = said.trim().split(/\s+/);
    if (fields[0] !== '' && !fields[0]?.startsWith('%')) yield [line, fields];
    from = to + 1;
  }
}

/** What stands in a file, for a message about it. */
export function quote(field: string): string {
  const short = field.length > MOST_QUOTED ? `${field.slice(0, MOST_QUOTED)}...` : field;
  return `'${short.replaceAll(/[^ -~]/g, '?')}'`;
}
