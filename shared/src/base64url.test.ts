import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64url, encodeBase64url } from './base64url.ts';

test('bytes become the text that everybody else makes of them, and come back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const text = encodeBase64url(bytes);
      expect(text).toBe(Buffer.from(bytes).toString('base64url'));
      expect(decodeBase64url(text)).toEqual(Uint8Array.from(bytes));
    }),
  );
});

test('a text that is not the one encoding of some bytes is refused', () => {
  const canonical = (text: string) => {
    const bytes = Buffer.from(text, 'base64url');
    return bytes.toString('base64url') === text ? Uint8Array.from(bytes) : undefined;
  };
  const texts = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.base64String({ maxLength: 12 }),
    fc.string({
      unit: fc.constantFrom('A', 'Q', 'g', 'w', '_', '-', '9', '=', 'é', '\u{1f600}'),
      maxLength: 9,
    }),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(decodeBase64url(text)).toEqual(canonical(text));
    }),
    { numRuns: 2000 },
  );
  for (const wrong of ['A', 'AAAAA', 'AB', 'AA=', 'AA==', 'A A', '+/', 'AAB'])
    expect(decodeBase64url(wrong)).toBeUndefined();
});
