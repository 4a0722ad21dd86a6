import type { Settings } from '../settings/settings.ts';

export function settings(patch: Partial<Settings> = {}): Settings {
  return {
    enabled: true,
    master: 'https://master.example',
    smallestBytes: 2_000_000,
    privateHosts: [],
    sitesOff: [],
    sitesAlways: [],
    sitesTunnel: [],
    kinds: { mode: 'all', kinds: [] },
    bypassKey: 'alt',
    noWastedByte: false,
    tellsMaster: false,
    ...patch,
  };
}
