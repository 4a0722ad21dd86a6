import { CHINESE } from './chinese.ts';
import { ENGLISH, type TextKey, type Texts } from './english.ts';
import { PORTUGUESE } from './portuguese.ts';
import { VIETNAMESE } from './vietnamese.ts';

/** By the browsers' names of the languages. */
export const LANGUAGES = {
  en: ENGLISH,
  pt_BR: PORTUGUESE,
  vi: VIETNAMESE,
  zh_CN: CHINESE,
} as const satisfies Readonly<Record<string, Texts>>;
export type Language = keyof typeof LANGUAGES;

type PlaceholderOf<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholderOf<Rest>
  : never;

/** What is put into a sentence, by the names in braces. */
export type TextValues<K extends TextKey> = {
  readonly [Name in PlaceholderOf<(typeof ENGLISH)[K]>]: string;
};

/** The names in braces, in the order of the alphabet: browsers know what is put in by its number alone. */
export function placeholdersOf(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))].toSorted();
}

/** The `messages.json` of one language. */
export function messagesOf(texts: Texts): Readonly<Record<string, { readonly message: string }>> {
  const entries = Object.entries(texts).map(([key, text]) => {
    const names = placeholdersOf(text);
    const numbered = text.replaceAll('$', '$$$$').replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
      return `$${names.indexOf(name) + 1}`;
    });
    return [key, { message: numbered }] as const;
  });
  return Object.fromEntries(entries);
}
