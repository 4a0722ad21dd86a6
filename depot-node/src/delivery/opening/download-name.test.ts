import { type OriginUrl, parseOriginUrl } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { dispositionFor, isNamedAlike } from './download-name.ts';

function url(text: string): OriginUrl {
  const parsed = parseOriginUrl(text);
  if (!parsed.ok) throw parsed.error;
  return parsed.value;
}

/** A text in UTF-8 as HTTP gives it: each character a byte. */
const bytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

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
  ['attachment; filename=\xe4.iso', 'http://h/x', 'attachment; filename="\xe4.iso"'],
  // In GBK the second byte of a character may be one of those that are cleaned away among characters.
  ['attachment; filename="\xb1\x81.zip"', 'http://h/x', 'attachment; filename="\xb1\x81.zip"'],
  ['attachment; filename="../\xb1\xa8\x07.zip"', 'http://h/x', 'attachment; filename="__\xb1\xa8_.zip"'],
  [
    `attachment; filename="${'\xb1'.repeat(400)}.zip"`,
    'http://h/x',
    `attachment; filename="${'\xb1'.repeat(125)}.zip"`,
  ],
  [
    'attachment; filename="\xb1\xa8.zip"; filename*=UTF-8\'\'%E6%8A%A5.zip',
    'http://h/x',
    'attachment; filename="\xb1\xa8.zip"; filename*=UTF-8\'\'%E6%8A%A5.zip',
  ],
  [
    "attachment; filename*=GBK''%B1%A8.zip",
    'http://h/x',
    'attachment; filename="_.zip"; filename*=UTF-8\'\'%E6%8A%A5.zip',
  ],
  [
    "attachment; filename*=ISO-8859-1'en'%E4.zip",
    'http://h/x',
    'attachment; filename="_.zip"; filename*=UTF-8\'\'%C3%A4.zip',
  ],
  [
    "attachment; filename*=klingon''%B1%A8.zip; filename=plain.zip",
    'http://h/x',
    'attachment; filename="plain.zip"',
  ],
  ["attachment; filename*=UTF-8''%B1%A8.zip", 'http://h/file.zip', 'attachment; filename="file.zip"'],
  [
    'attachment; filename=%E6%8A%A5%E8%A1%A8.xlsx',
    'http://h/x',
    `attachment; filename="${bytes('报表.xlsx')}"; filename*=UTF-8''%E6%8A%A5%E8%A1%A8.xlsx`,
  ],
  ['attachment; filename="a%20b.zip"', 'http://h/x', 'attachment; filename="a b.zip"'],
  ['attachment; filename="..%2F..%2Fetc%00.zip"', 'http://h/x', 'attachment; filename="__.._etc_.zip"'],
  ['attachment; filename="x%E2%80%AEgpj.exe"', 'http://h/x', 'attachment; filename="xgpj.exe"'],
  ['attachment; filename="100%.zip"', 'http://h/x', 'attachment; filename="100%.zip"'],
  ['attachment; filename="a%zz.zip"', 'http://h/x', 'attachment; filename="a%zz.zip"'],
  [
    'attachment; filename="a%E4.zip"',
    'http://h/x',
    'attachment; filename="a%E4.zip"; filename*=UTF-8\'\'a%25E4.zip',
  ],
  [
    'attachment; filename="=?UTF-8?B?5oql6KGoLnhsc3g=?="',
    'http://h/x',
    `attachment; filename="${bytes('报表.xlsx')}"; filename*=UTF-8''%E6%8A%A5%E8%A1%A8.xlsx`,
  ],
  ['attachment; filename==?us-ascii?q?a_=3Db.zip?=', 'http://h/x', 'attachment; filename="a =b.zip"'],
  [
    'attachment; filename="=?gbk?B?sag=?= =?utf-8?Q?=E8=A1=A8?= 1.zip"',
    'http://h/x',
    `attachment; filename="${bytes('报表 1.zip')}"; filename*=UTF-8''%E6%8A%A5%E8%A1%A8%201.zip`,
  ],
  ['attachment; filename="=?utf-8?B?Li4vYg==?="', 'http://h/x', 'attachment; filename="__b"'],
  ['attachment; filename="=?klingon?Q?a?=.zip"', 'http://h/x', 'attachment; filename="=_klingon_Q_a_=.zip"'],
  ['attachment; name="a; filename=b.zip"; filename=c.zip', 'http://h/x', 'attachment; filename="c.zip"'],
  ['attachment; filename=""; filename="b.zip"', 'http://h/real.zip', 'attachment; filename="b.zip"'],
  ['attachment; filename=\xa0\xa1.zip ', 'http://h/x', 'attachment; filename="\xa0\xa1.zip"'],
  [
    'attachment; filename=voil\xc3\xa0',
    'http://h/x',
    'attachment; filename="voil\xc3\xa0"; filename*=UTF-8\'\'voil%C3%A0',
  ],
  [`attachment; filename="${'=?x?q?b?='.repeat(2000)}"`, 'http://h/x.zip', 'attachment; filename="x.zip"'],
  ['attachment; FileName=one.zip; filename=two.zip', 'http://h/x', 'attachment; filename="one.zip"'],
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
  // As a program names it that asks the origin.
  [
    undefined,
    'http://h/%E6%8A%A5%E8%A1%A8+%281%29.xlsx',
    `attachment; filename="%E6%8A%A5%E8%A1%A8+%281%29.xlsx"; filename*=UTF-8''%E6%8A%A5%E8%A1%A8%2B%281%29.xlsx`,
  ],
  [
    'attachment',
    'http://h/d/%c3%a4%20b.iso?%c3%b6',
    'attachment; filename="%c3%a4%20b.iso"; filename*=UTF-8\'\'%C3%A4%20b.iso',
  ],
  [
    'attachment; filename=" "',
    'http://h/%C3%A4.iso',
    'attachment; filename="%C3%A4.iso"; filename*=UTF-8\'\'%C3%A4.iso',
  ],
  // There are programs that decode it.
  [
    undefined,
    'http://h/%2E.%2F%C3%A4"%22%5C%00%0a:.iso',
    'attachment; filename="__%C3%A4______.iso"; filename*=UTF-8\'\'__%C3%A4______.iso',
  ],
  [
    undefined,
    'http://h/100%25%E4.iso',
    'attachment; filename="100%25%E4.iso"; filename*=UTF-8\'\'100%2525%25E4.iso',
  ],
  ...[0, 1, 2].map((more): [undefined, string, string] => [
    undefined,
    `http://h/${'a'.repeat(more)}${'%C3%A4'.repeat(50)}.iso`,
    `attachment; filename="${'a'.repeat(more)}${'%C3%A4'.repeat(42).slice(0, 249)}.iso"; filename*=UTF-8''${'a'.repeat(more)}${'%C3%A4'.repeat(50)}.iso`,
  ]),
  ['nonsense;;;', 'http://h/file.iso', 'attachment; filename="file.iso"'],
])('Content-Disposition %j at %s reaches the client as %j', (header, address, expected) => {
  expect(dispositionFor(header, url(address))).toBe(expected);
});

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const ZIP = 'application/zip';

test.each([
  [
    'a query, whose extension gives way to that of the type',
    '/download.php',
    'http://h/download.php?id=5',
    ZIP,
  ],
  ['an empty query', '/download.php', 'http://h/download.php?', ZIP],
  ['no extension', '/get/12345', 'http://h/get/12345', 'application/pdf'],
  ['a dot at its end alone', '/get/12345.', 'http://h/get/12345.', ZIP],
  ['no last segment', '/d/', 'http://h/d/', ZIP],
  ['the same one as that which redirected to it', '/download.php', 'http://cdn/1/download.php?sig=1', ZIP],
])('a browser names a file by itself whose address has %s', (_, path, address, type) => {
  const asked = { url: `${path}?ticket&server=h`, headers: { 'user-agent': FIREFOX } };
  expect(isNamedAlike(asked, type, url(address))).toBe(true);
  expect(isNamedAlike({ ...asked, url: `http://depot${asked.url}` }, type, url(address))).toBe(true);
  // What takes the address as it stands would have the ticket in its names.
  for (const program of [undefined, 'Wget/1.21.3', 'curl/8.14.1', 'aria2/1.37.0'])
    expect(isNamedAlike({ ...asked, headers: { 'user-agent': program } }, type, url(address))).toBe(false);
});

test.each([
  ['has an extension that stays at the origin', '/a.iso', 'http://h/a.iso', ZIP],
  ['has one after it is decoded', '/a%2Eiso', 'http://h/a%2Eiso', ZIP],
  ['is another one than that which redirected to it', '/get/5', 'http://cdn/download.php?sig=1', ZIP],
  ['is of no type, which browsers would make one of', '/get', 'http://h/get?id=5', undefined],
  ['is of the type of any text', '/get', 'http://h/get?id=5', 'Text/Plain; charset=utf-8'],
])('a browser is told the name of a file whose address %s', (_, path, address, type) => {
  const asked = { url: `${path}?ticket&server=h`, headers: { 'user-agent': FIREFOX } };
  expect(isNamedAlike(asked, type, url(address))).toBe(false);
});

test('a client that names files itself is told the names that origins give, and no other', () => {
  const address = url('http://h/download.php?id=5');
  expect(dispositionFor(undefined, address, true)).toBe('attachment');
  expect(dispositionFor('inline; filename=" "', address, true)).toBe('attachment');
  expect(dispositionFor('attachment; filename=a.zip', address, true)).toBe('attachment; filename="a.zip"');
});
