import { parseMasterAddress } from '../settings/parse-master-address.ts';
import { isHostPattern, type Settings } from '../settings/settings.ts';
import { say } from '../texts/say.ts';

/** What stands in the fields of the options page. */
export interface OptionsForm {
  readonly master: string;
  readonly smallest: string;
  readonly privateHosts: string;
}

interface OptionsResult {
  /** The settings; `undefined` when there is a mistake. */
  readonly settings: Pick<Settings, 'master' | 'smallestBytes' | 'privateHosts'> | undefined;
  readonly mistakes: Partial<Record<keyof OptionsForm, string>>;
}

const MB = 1_000_000;

/** Reads the options page, and says of every field with a mistake what to do. */
export function readOptionsForm(form: OptionsForm): OptionsResult {
  const master = form.master.trim() === '' ? '' : parseMasterAddress(form.master);
  const megabytes = form.smallest.trim() === '' ? Number.NaN : Number(form.smallest);
  const privateHosts = [...new Set(form.privateHosts.split('\n').map((line) => line.trim()))].filter(Boolean);
  const wrongHost = privateHosts.find((line) => !isHostPattern(line));
  const mistakes: OptionsResult['mistakes'] = {
    ...(master === undefined && { master: say('mistakeMaster') }),
    ...(!(megabytes >= 0 && Number.isFinite(megabytes)) && { smallest: say('mistakeSmallest') }),
    ...(wrongHost !== undefined && { privateHosts: say('mistakePrivate', { line: wrongHost }) }),
  };
  if (master === undefined || Object.keys(mistakes).length > 0) return { settings: undefined, mistakes };
  return { settings: { master, smallestBytes: Math.round(megabytes * MB), privateHosts }, mistakes };
}
