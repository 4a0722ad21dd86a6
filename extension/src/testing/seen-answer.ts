import type { SeenAnswer } from '../watch/seen-answers.ts';

/** The answer of a plain web server with the file of `download()`, to a click in a tab. */
export function seenAnswer(
  patch: Partial<SeenAnswer> = {},
  headers: Readonly<Record<string, string>> = {},
): SeenAnswer {
  return {
    method: 'GET',
    status: 200,
    headers: new Headers({
      'content-type': 'application/x-iso9660-image',
      'content-length': '50000000',
      'accept-ranges': 'bytes',
      etag: '"v1"',
      'last-modified': 'Sun, 01 Nov 2026 12:00:00 GMT',
      ...headers,
    }),
    isFromTab: true,
    page: 'https://page.example',
    address: '8.8.8.8',
    ...patch,
  };
}
