import { type OriginUrl, parseOriginUrl } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { dispositionFor } from './download-name.ts';

function url(text: string): OriginUrl {
  const parsed = parseOriginUrl(text);
  if (!parsed.ok) throw parsed.error;
  return parsed.value;
}

test.each([
  [undefined, 'http://h/a%20b.iso', 'attachment; filename="a b.iso"'],
  ['attachment', 'http://h/file.iso', 'attachment; filename="file.iso"'],
  ['attachment; filename="named.iso"', 'http://h/x', 'attachment; filename="named.iso"'],
  ['inline; filename=named.iso', 'http://h/x', 'attachment; filename="named.iso"'],
  ['attachment; filename="open.iso', 'http://h/x', 'attachment; filename="open.iso"'],
  ['attachment filename=bare.iso', 'http://h/x', 'attachment; filename="bare.iso"'],
  ['attachment; filename=two words.iso', 'http://h/x', 'attachment; filename="two words.iso"'],
  [
    'attachment; filename="e.iso"; filename*=UTF-8\'\'%E2%82%AC.iso',
    'http://h/x',
    'attachment; filename="e.iso"; filename*=UTF-8\'\'%E2%82%AC.iso',
  ],
  [
    'attachment; filename*=UTF-8\'\'%E2%82%AC.iso; filename="EUR \\"1\\".iso"',
    'http://h/x',
    'attachment; filename="EUR _1_.iso"; filename*=UTF-8\'\'%E2%82%AC.iso',
  ],
  [
    'attachment; filename="\xc3\xa4.iso"',
    'http://h/x',
    'attachment; filename="\xc3\xa4.iso"; filename*=UTF-8\'\'%C3%A4.iso',
  ],
  [
    'attachment; filename=\xe4.iso',
    'http://h/x',
    'attachment; filename="\xc3\xa4.iso"; filename*=UTF-8\'\'%C3%A4.iso',
  ],
  [
    "attachment; filename*=UTF-8''%E2%82%AC.iso",
    'http://h/x',
    'attachment; filename="_.iso"; filename*=UTF-8\'\'%E2%82%AC.iso',
  ],
  [
    'attachment; filename="../$&.iso"; filename*=UTF-8\'\'%E2%82%AC.iso',
    'http://h/x',
    'attachment; filename="__$&.iso"; filename*=UTF-8\'\'%E2%82%AC.iso',
  ],
  ["attachment; filename*=UTF-8''x%E2%80%AEgpj.exe", 'http://h/x', 'attachment; filename="xgpj.exe"'],
  ['attachment; filename="../../etc/passwd"', 'http://h/x', 'attachment; filename="__.._etc_passwd"'],
  ['attachment; filename="/"', 'http://h/file.iso', 'attachment; filename="_"'],
  ['attachment; filename=" "', 'http://h/file.iso', 'attachment; filename="file.iso"'],
  [
    `attachment; filename="${'a'.repeat(400)}.iso"`,
    'http://h/x',
    `attachment; filename="${'a'.repeat(251)}.iso"`,
  ],
  ['nonsense;;;', 'http://h/file.iso', 'attachment; filename="file.iso"'],
])('Content-Disposition %j at %s reaches the client as %j', (header, address, expected) => {
  expect(dispositionFor(header, url(address))).toBe(expected);
});
