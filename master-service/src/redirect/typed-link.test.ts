import { expect, test } from 'vitest';
import { typedLink } from './typed-link.ts';

test.each([
  ['/get/https/o.example/a?b=c', 'https://o.example/a?b=c', ''],
  ['/get/~size=700000000,avoid=d1/https/o.example/', 'https://o.example/', ''],
  ['/get/https/u:p@o.example/', 'https://u:p@o.example/', ''],
  ['/get/ftp/o.example/x', 'ftp://o.example/x', ''],
  ['/get/https://o.example/x', 'https://o.example/x', ''],
  ['/get/www.example.org/x.iso', 'www.example.org/x.iso', ''],
  ['/get/http/o.example/\xc3\xa4', 'http://o.example/%C3%A4', ''],
  ['/get/', '', ''],
  ['/get?url=javascript%3Aalert(1)&size=big', 'javascript:alert(1)', 'big'],
  ['/get?', '', ''],
])('what somebody meant by %s can be corrected', (target, link, size) => {
  expect(typedLink(target)).toEqual({ link, size });
});
