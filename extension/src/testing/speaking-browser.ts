/**
 * In place of the browser's API where a test wants sentences said: `vi.mock('.../browser-api.ts', () =>
 * import(...))`.
 */
import { LANGUAGES, type Language, messagesOf } from '../texts/texts.ts';

let messages = messagesOf(LANGUAGES.en);

/** Says everything in another language from now on. */
export function speak(language: Language): void {
  messages = messagesOf(LANGUAGES[language]);
}

export const api = {
  i18n: {
    getMessage: (key: string, values: readonly string[] = []): string =>
      (messages[key]?.message ?? '').replaceAll(/\$(\$|\d)/g, (_whole, sign: string) =>
        sign === '$' ? '$' : (values[Number(sign) - 1] ?? ''),
      ),
  },
};
