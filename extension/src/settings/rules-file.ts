import { isRecord, READERS, type Settings } from './settings.ts';

/** What is exported: which downloads are taken. Master and private hosts are not: whoever gets the file has his own. */
export type Rules = Pick<Settings, 'sitesOff' | 'sitesAlways' | 'kinds' | 'smallestBytes' | 'bypassKey'>;

/** What is wrong with a file of rules; nothing of it is used then. */
export interface RulesProblem {
  readonly problem: /** It is larger than any list of rules. */
    | 'too-large'
    /** It is no JSON, cut off for example. */
    | 'not-json'
    /** It is JSON of something else. */
    | 'not-rules'
    /** A newer version of the add-on wrote it. */
    | 'newer'
    /** `place` holds what is none of its kind. */
    | 'bad-entry';
  /** Where, and what stands there, shortened: `never: "ht!p"`. Empty where that says nothing. */
  readonly place: string;
}

export type RulesReply =
  | { readonly ok: true; readonly rules: Rules }
  | ({ readonly ok: false } & RulesProblem);

const FORMAT = 'longhaul-rules';
const VERSION = 1;
/** Twenty thousand sites; a file that is larger was meant for something else. */
const MAX_FILE_CHARACTERS = 1_000_000;
/** So much of a wrong entry is shown. */
const SHOWN_CHARACTERS = 60;

/** What the parts of a file are called, and which settings they are. */
const PARTS = {
  never: 'sitesOff',
  always: 'sitesAlways',
  kinds: 'kinds',
  smallestBytes: 'smallestBytes',
  bypassKey: 'bypassKey',
} as const satisfies Record<string, keyof Rules>;

/** The rules as the text of a file, for `readRulesFile`. */
export function writeRulesFile(rules: Rules): string {
  const parts = Object.entries(PARTS).map(([part, name]) => [part, rules[name]]);
  const file = { format: FORMAT, version: VERSION, ...Object.fromEntries(parts) };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** The rules in a file, all of them, or the first thing that is wrong with it. */
export function readRulesFile(text: string): RulesReply {
  if (text.length > MAX_FILE_CHARACTERS) return wrong('too-large');
  const file = parseJson(text);
  if (file === undefined) return wrong('not-json');
  if (!isRecord(file) || file.format !== FORMAT) return wrong('not-rules');
  const { version } = file;
  if (version !== VERSION) {
    return typeof version === 'number' && version > VERSION
      ? wrong('newer')
      : wrong('bad-entry', 'version', version);
  }
  const read: [string, unknown][] = [];
  for (const [part, name] of Object.entries(PARTS)) {
    const spoilt: unknown[] = [];
    const value: unknown = READERS[name](file[part], (item) => spoilt.push(item));
    if (value === undefined) return wrong('bad-entry', part, file[part]);
    if (spoilt.length > 0) return wrong('bad-entry', part, spoilt[0]);
    read.push([name, value]);
  }
  return { ok: true, rules: Object.fromEntries(read) as unknown as Rules };
}

function parseJson(text: string): unknown {
  try {
    // Editors of some systems put a mark in front.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

function wrong(problem: RulesProblem['problem'], place = '', entry?: unknown): RulesReply {
  const shown = (JSON.stringify(entry) ?? 'missing').slice(0, SHOWN_CHARACTERS);
  return { ok: false, problem, place: place === '' ? '' : `${place}: ${shown}` };
}
