import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { duplicateLinks } from './duplicate-links.ts';

const long = (chars: number) => `https://origin.example/${'a'.repeat(chars)}`;
const lengths = fc.integer({ min: 0, max: 4100 });

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

  test('leaves out an alternative rather than the origin', () => {
    const origin = long(1500);
    expect(duplicateLinks([long(1700), origin], long(500))).toBe(`<${origin}>; rel=duplicate; pri=1`);
    expect(duplicateLinks([long(1700), 'http://b/1', origin], long(500))).toBe(
      `<http://b/1>; rel=duplicate; pri=1, <${origin}>; rel=duplicate; pri=2`,
    );
  });

  test('has the origin in it, as the last one, wherever that fits alone', () => {
    const urls = fc.array(lengths.map(long), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(urls, lengths.map(long), (list, location) => {
        const alone = duplicateLinks(list.slice(-1));
        const links = duplicateLinks(list, location);
        const asLast = alone.replace(/1$/, String(links.split(', ').length));
        expect(links.endsWith(asLast)).toBe(true);
      }),
    );
  });

  test('is never longer than 4000 characters, nor, with the address, than 3500 unless these and the origin are', () => {
    const urls = fc.array(lengths.map(long), { maxLength: 6 });
    fc.assert(
      fc.property(urls, lengths.map(long), (list, location) => {
        const links = duplicateLinks(list, location);
        expect(links.length).toBeLessThanOrEqual(4000);
        const least = location.length + duplicateLinks(list.slice(-1)).length;
        expect(location.length + links.length).toBeLessThanOrEqual(Math.max(3500, least));
      }),
    );
  });
});
