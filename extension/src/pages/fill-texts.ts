import type { TextKey } from '../texts/english.ts';
import { say } from '../texts/say.ts';
import type { TextValues } from '../texts/texts.ts';

/** Sentences into which nothing is put: a page names them itself. */
type PlainKey = { [K in TextKey]: keyof TextValues<K> extends never ? K : never }[TextKey];

/** Says what a page names: `data-text` as an element's text, `data-label` as its name for those who do not see it. */
export function fillTexts(): void {
  document.documentElement.lang = say('languageTag');
  for (const element of document.querySelectorAll<HTMLElement>('[data-text], [data-label]')) {
    const { text, label } = element.dataset;
    if (text !== undefined) element.textContent = say(text as PlainKey);
    if (label !== undefined) element.setAttribute('aria-label', say(label as PlainKey));
  }
}
