import { expect, test } from 'vitest';
import { curlLine, htmlSnippet } from './snippets.ts';

test('a link for a web page shows every character as it is', () => {
  expect(htmlSnippet('https://m/get/https/o:443/a?b&c="x"', '<f> & g')).toBe(
    '<a href="https://m/get/https/o:443/a?b&amp;c=&quot;x&quot;">&lt;f&gt; &amp; g</a>',
  );
});

test('a command line survives quotes, and brackets that curl would expand', () => {
  expect(curlLine('https://m/a')).toBe("curl -L -O 'https://m/a'");
  expect(curlLine("https://m/it's")).toBe("curl -L -O 'https://m/it'\\''s'");
  expect(curlLine('https://m/get/http/[::1]:80/a')).toBe("curl -g -L -O 'https://m/get/http/[::1]:80/a'");
});
