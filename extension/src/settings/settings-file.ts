import { DEFAULT_SETTINGS, readSettings, type Settings } from './settings.ts';

/** Longer than any settings that a person writes. */
const MOST_CHARS = 1_000_000;

/** What came of reading a file; `part`: the first setting in it that is none. */
export type FileReading =
  | { readonly result: 'settings'; readonly settings: Partial<Settings> }
  | { readonly result: 'no-file' }
  | { readonly result: 'bad-part'; readonly part: string };

/** All settings as a text file that people can read. */
export function settingsFile(settings: Settings): string {
  return `${JSON.stringify({ longhaul: 1, settings }, null, 2)}\n`;
}

/** The settings in a file, all or none: one that is not whole changes nothing. Those that it does not know stay as they are. */
export function readSettingsFile(text: string): FileReading {
  const file = text.length > MOST_CHARS ? undefined : parse(text);
  if (!isRecord(file) || file.longhaul !== 1 || !isRecord(file.settings)) return { result: 'no-file' };
  const stored = file.settings;
  const known = Object.keys(DEFAULT_SETTINGS).filter((part) => Object.hasOwn(stored, part));
  const read: Readonly<Record<string, unknown>> = { ...readSettings(stored) };
  const bad = known.find((part) => JSON.stringify(read[part]) !== JSON.stringify(stored[part]));
  if (bad !== undefined) return { result: 'bad-part', part: bad };
  return { result: 'settings', settings: Object.fromEntries(known.map((part) => [part, read[part]])) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
