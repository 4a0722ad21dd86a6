import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { duplicateLinks } from './duplicate-links.ts';

const long = (chars: number) => `https://origin.example/${'a'.repeat(chars)}`;

describe('the Link header', () => {
  test('names duplicates in their order and leaves out what would break it', () => {
    expect(duplicateLinks(['http://a/1', 'http://b/"', 'http://c/1'])).toBe(
      '<http://a/1>; rel=duplicate; pri=1, <http://c/1>; rel=duplicate; pri=2',
    );
    expect(duplicateLinks([])).toBe('');
  });

  test('leaves out what download tools would choke on, the origin too', () => {
    expect(duplicateLinks([long(8000), 'http://c/1'])).toBe('<http://c/1>; rel=duplicate; pri=1');
    expect(duplicateLinks(['http://a/1', long(8000)])).toBe('<http://a/1>; rel=duplicate; pri=1');
    expect(duplicateLinks([long(8000)])).toBe('');
  });

  test('is never longer than 4000 characters', () => {
    const urls = fc.array(fc.integer({ min: 0, max: 4100 }).map(long), { maxLength: 6 });
    fc.assert(
      fc.property(urls, (list) => {
        expect(duplicateLinks(list).length).toBeLessThanOrEqual(4000);
      }),
    );
  });
});
