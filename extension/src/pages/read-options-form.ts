import { parseKind } from '../settings/file-kind.ts';
import { parseMasterAddress } from '../settings/parse-master-address.ts';
import { HELD_KEYS, isHostPattern, type Settings } from '../settings/settings.ts';
import { parseSite } from '../settings/site-rules.ts';
import { say } from '../texts/say.ts';

/** What stands in the fields of the options page, by their ids. */
export interface OptionsForm {
  readonly master: string;
  readonly smallest: string;
  readonly 'sites-never': string;
  readonly 'sites-always': string;
  readonly 'sites-tunnel': string;
  readonly 'kinds-mode': string;
  readonly kinds: string;
  readonly 'bypass-key': string;
  readonly 'private-hosts': string;
  readonly 'no-wasted-byte': boolean;
}

interface OptionsResult {
  /** The settings; `undefined` when there is a mistake. */
  readonly settings: Omit<Settings, 'enabled' | 'tellsMaster'> | undefined;
  readonly mistakes: Partial<Record<keyof OptionsForm, string>>;
}

const MB = 1_000_000;

/** Reads the options page, and says of every field with a mistake what to do. */
export function readOptionsForm(form: OptionsForm): OptionsResult {
  const master = form.master.trim() === '' ? '' : parseMasterAddress(form.master);
  const megabytes = form.smallest.trim() === '' ? Number.NaN : Number(form.smallest);
  const never = readLines(form['sites-never'], '\n', parseSite);
  const always = readLines(form['sites-always'], '\n', parseSite);
  const tunnel = readLines(form['sites-tunnel'], '\n', parseSite);
  const kinds = readLines(form.kinds, /[\s,]+/, parseKind);
  const hosts = readLines(form['private-hosts'], '\n', (line) => (isHostPattern(line) ? line : undefined));
  const isSize = megabytes >= 0 && Number.isFinite(megabytes);
  const mode = (['only', 'except'] as const).find((one) => one === form['kinds-mode']) ?? 'all';
  // Nobody can mend what stands in a field that is switched off.
  const wrongKind = mode === 'all' ? undefined : kinds.wrong;
  const mistakes: OptionsResult['mistakes'] = {
    ...(master === undefined && { master: say('mistakeMaster') }),
    ...(!isSize && { smallest: say('mistakeSmallest') }),
    ...(never.wrong !== undefined && { 'sites-never': say('mistakeSite', { line: never.wrong }) }),
    ...(always.wrong !== undefined && { 'sites-always': say('mistakeSite', { line: always.wrong }) }),
    ...(tunnel.wrong !== undefined && { 'sites-tunnel': say('mistakeSite', { line: tunnel.wrong }) }),
    ...(wrongKind !== undefined && { kinds: say('mistakeKind', { kind: wrongKind }) }),
    ...(hosts.wrong !== undefined && { 'private-hosts': say('mistakePrivate', { line: hosts.wrong }) }),
  };
  if (master === undefined || Object.keys(mistakes).length > 0) return { settings: undefined, mistakes };
  return {
    settings: {
      master,
      smallestBytes: Math.round(megabytes * MB),
      sitesOff: never.read,
      sitesAlways: always.read,
      sitesTunnel: tunnel.read,
      kinds: { mode, kinds: kinds.read },
      bypassKey: HELD_KEYS.find((key) => key === form['bypass-key']) ?? 'none',
      privateHosts: hosts.read,
      noWastedByte: form['no-wasted-byte'],
    },
    mistakes,
  };
}

/**
 * What was changed in a form that had shown these settings. All else may be otherwise by now: a popup or
 * another window has changed it.
 */
export function changesOf(shown: Settings, now: Partial<Settings>): Partial<Settings> {
  const isOther = ([name, value]: readonly [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(shown[name as keyof Settings]);
  return Object.fromEntries(Object.entries(now).filter(isOther));
}

/** What stands in a field with many entries, each once, and the first of them that is none. */
function readLines(
  text: string,
  separator: string | RegExp,
  parse: (line: string) => string | undefined,
): { readonly read: readonly string[]; readonly wrong: string | undefined } {
  const lines = text
    .split(separator)
    .map((line) => line.trim())
    .filter(Boolean);
  return {
    read: [...new Set(lines.flatMap((line) => parse(line) ?? []))],
    wrong: lines.find((line) => parse(line) === undefined),
  };
}
