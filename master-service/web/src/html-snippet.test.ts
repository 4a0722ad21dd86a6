import { expect, test } from 'vitest';
import { htmlSnippet } from './html-snippet.ts';

test('a link for a web page shows every character as it is', () => {
  expect(htmlSnippet('https://m/get/https/o:443/a?b&c="x"', '<f> & g')).toBe(
    '<a href="https://m/get/https/o:443/a?b&amp;c=&quot;x&quot;">&lt;f&gt; &amp; g</a>',
  );
});
