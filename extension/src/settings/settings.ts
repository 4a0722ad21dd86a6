import { parseHostPattern } from '@longhaul/shared';
import { buildDefaults } from './build-defaults.ts';
import { parseMasterAddress } from './parse-master-address.ts';

/** What the user decides. */
export interface Settings {
  readonly enabled: boolean;
  /** Base URL of the master without a final slash; empty until the user has set one. */
  readonly master: string;
  /** Downloads known to be smaller are left alone: they do not gain from a chain. */
  readonly smallestBytes: number;
  /** Patterns of private hosts that may be told to the master, and where depots may be. */
  readonly privateHosts: readonly string[];
  /** Hosts whose pages and files are left alone. */
  readonly sitesOff: readonly string[];
}

export const DEFAULT_SETTINGS: Settings = {
  enabled: true,
  master: parseMasterAddress(buildDefaults.master) ?? '',
  smallestBytes: 2_000_000,
  privateHosts: buildDefaults.privateHosts,
  sitesOff: [],
};

/** Reads what is stored; a part that is missing or damaged takes its default. */
export function readSettings(stored: unknown): Settings {
  const values = isRecord(stored) ? stored : {};
  const { enabled, master, smallestBytes, privateHosts, sitesOff } = values;
  return {
    enabled: typeof enabled === 'boolean' ? enabled : DEFAULT_SETTINGS.enabled,
    master: typeof master === 'string' ? (parseMasterAddress(master) ?? '') : DEFAULT_SETTINGS.master,
    smallestBytes: isSize(smallestBytes) ? smallestBytes : DEFAULT_SETTINGS.smallestBytes,
    privateHosts: isTexts(privateHosts) ? privateHosts.filter(isHostPattern) : DEFAULT_SETTINGS.privateHosts,
    sitesOff: isTexts(sitesOff) ? sitesOff : DEFAULT_SETTINGS.sitesOff,
  };
}

export function isHostPattern(text: string): boolean {
  return parseHostPattern(text) !== undefined;
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
