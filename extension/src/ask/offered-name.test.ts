import { expect, it } from 'vitest';
import { offeredName } from './offered-name.ts';

it.each([
  ['attachment; filename="a b.iso"', 'a b.iso'],
  ['attachment; filename=plain.bin', 'plain.bin'],
  [String.raw`attachment; filename="say \"hi\".txt"`, 'say _hi_.txt'],
  ['attachment; filename="_.zip"; filename*=UTF-8\'\'%E6%96%87%E4%BB%B6.zip', '文件.zip'],
  ["attachment; filename*=UTF-8''%ff", ''],
  ['attachment; filename="../../etc/passwd"', '__.._etc_passwd'],
  ['attachment', ''],
])('reads %s', (line, name) => {
  expect(offeredName(new Headers({ 'content-disposition': line }))).toBe(name);
});
