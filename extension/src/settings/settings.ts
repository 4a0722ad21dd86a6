import { parseHostPattern } from '@longhaul/shared';
import { buildDefaults } from './build-defaults.ts';
import { ALL_KINDS, type KindRule, parseKind } from './file-kind.ts';
import { parseMasterAddress } from './parse-master-address.ts';
import { parseSite, type SiteRules } from './site-rules.ts';

/** Keys of which one, held while clicking, leaves the download to the browser. */
export const HELD_KEYS = ['none', 'alt', 'ctrl', 'shift'] as const;
export type HeldKey = (typeof HELD_KEYS)[number];

/** What the user decides. */
export interface Settings extends SiteRules {
  readonly enabled: boolean;
  /** Base URL of the master without a final slash; empty until the user has set one. */
  readonly master: string;
  /** Downloads known to be smaller are left alone: they do not gain from a chain. */
  readonly smallestBytes: number;
  /** Patterns of private hosts that may be told to the master, and where depots may be. */
  readonly privateHosts: readonly string[];
  /** Sites whose pages and files are left alone, with the names below them. */
  readonly sitesOff: readonly string[];
  /** Sites whose files are taken whatever their kind and size. */
  readonly sitesAlways: readonly string[];
  /** Sites that are reached through a tunnel of depots, whatever is asked of them. */
  readonly sitesTunnel: readonly string[];
  readonly kinds: KindRule;
  readonly bypassKey: HeldKey;
  /** Whether requests are led to depots before the origin has sent a byte of the file (decision 8). */
  readonly noWastedByte: boolean;
  /** Whether the master is told how the downloads that it has planned went. */
  readonly tellsMaster: boolean;
}

export const DEFAULT_SETTINGS: Settings = {
  enabled: true,
  master: parseMasterAddress(buildDefaults.master) ?? '',
  smallestBytes: 2_000_000,
  privateHosts: buildDefaults.privateHosts,
  sitesOff: [],
  sitesAlways: [],
  sitesTunnel: [],
  kinds: ALL_KINDS,
  bypassKey: 'alt',
  noWastedByte: false,
  tellsMaster: false,
};

/** What is wrong with what is stored. */
export type SettingsProblem =
  /** Parts of it were no settings: they have their defaults, and what was stored is kept beside. */
  | 'damaged'
  /** A newer version of the add-on wrote it: what this one knows is used, the rest is kept. */
  | 'newer';

export interface ReadSettings {
  readonly settings: Settings;
  readonly problem: SettingsProblem | undefined;
}

/** The version of what is stored. 1 had no `version`, and `sitesOff` meant hosts without the names below them. */
export const SETTINGS_VERSION = 2;

type Values = Readonly<Record<string, unknown>>;
/** Reads one part, and says when something in it is no setting; `undefined` when nothing of it is one. */
type Reader<T> = (value: unknown, spoilt: (item: unknown) => void) => T | undefined;

export const READERS: { readonly [K in keyof Settings]: Reader<Settings[K]> } = {
  enabled: readBoolean,
  master: (value) => (value === '' ? '' : typeof value === 'string' ? parseMasterAddress(value) : undefined),
  smallestBytes: (value) => (isSize(value) ? value : undefined),
  privateHosts: (value, spoilt) => readAll(value, (text) => (isHostPattern(text) ? text : undefined), spoilt),
  sitesOff: (value, spoilt) => readAll(value, parseSite, spoilt),
  sitesAlways: (value, spoilt) => readAll(value, parseSite, spoilt),
  sitesTunnel: (value, spoilt) => readAll(value, parseSite, spoilt),
  kinds: readKinds,
  bypassKey: (value) => HELD_KEYS.find((key) => key === value),
  noWastedByte: readBoolean,
  tellsMaster: readBoolean,
};

/** Reads what is stored, of whatever version; a part that is missing takes its default, and so does what is damaged. */
export function readStored(stored: unknown): ReadSettings {
  if (stored === undefined) return { settings: DEFAULT_SETTINGS, problem: undefined };
  if (!isRecord(stored)) return { settings: DEFAULT_SETTINGS, problem: 'damaged' };
  const { version = 1 } = stored;
  let isDamaged = !isVersion(version);
  const settings = readSettings(stored, () => {
    isDamaged = true;
  });
  const isNewer = isVersion(version) && version > SETTINGS_VERSION;
  return { settings, problem: isDamaged ? 'damaged' : isNewer ? 'newer' : undefined };
}

/** The settings in these values; a part that is missing is as in `others`, and so is what is damaged, after a word. */
export function readSettings(
  values: Values,
  spoilt: () => void = () => undefined,
  others: Settings = DEFAULT_SETTINGS,
): Settings {
  const parts = Object.entries(READERS).map(([name, read]) => {
    const value = values[name];
    const other = others[name as keyof Settings];
    if (value === undefined) return [name, other];
    const part = read(value, spoilt);
    if (part === undefined) spoilt();
    return [name, part ?? other];
  });
  return Object.fromEntries(parts);
}

export function isHostPattern(text: string): boolean {
  return parseHostPattern(text) !== undefined;
}

export function isRecord(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list of texts, each as it is stored and once. */
function readAll(
  value: unknown,
  parse: (text: string) => string | undefined,
  spoilt: (item: unknown) => void,
): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const read = value.flatMap((item) => {
    const text = typeof item === 'string' ? parse(item) : undefined;
    if (text === undefined) spoilt(item);
    return text ?? [];
  });
  return [...new Set(read)];
}

function readKinds(value: unknown, spoilt: (item: unknown) => void): KindRule | undefined {
  if (!isRecord(value)) return undefined;
  const mode = (['all', 'only', 'except'] as const).find((one) => one === value.mode);
  const kinds = readAll(value.kinds, parseKind, spoilt);
  return mode && kinds ? { mode, kinds } : undefined;
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function readBoolean(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function isVersion(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1;
}
