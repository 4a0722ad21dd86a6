import { api } from '../browser/browser-api.ts';
import type { TextKey } from './english.ts';
import type { TextValues } from './texts.ts';

/** What goes with a sentence: nothing where nothing is put in. */
export type Said<K extends TextKey> = keyof TextValues<K> extends never ? [] : [values: TextValues<K>];

/** A sentence in the user's language, with what is put into it. */
export function say<K extends TextKey>(key: K, ...[values]: Said<K>): string {
  const sorted = Object.entries<string>(values ?? {}).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return api.i18n.getMessage(
    key,
    sorted.map(([, value]) => value),
  );
}
