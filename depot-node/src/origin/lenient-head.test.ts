import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LenientHead } from './lenient-head.ts';

/** What HTTP gets of an answer that comes in these pieces. */
const through = (text: string, places: readonly number[] = []) => {
  const bytes = Buffer.from(text, 'latin1');
  const cuts = [0, ...places.map((place) => place % bytes.length), bytes.length].toSorted((a, b) => a - b);
  const head = new LenientHead();
  const pieces = cuts.slice(1).map((end, index) => head.take(bytes.subarray(cuts[index], end)));
  return Buffer.concat([...pieces, head.flush() ?? Buffer.alloc(0)]).toString('latin1');
};
const answer = (fields: string) => `HTTP/1.1 200 OK\r\n${fields}\r\n\r\nhello\n`;
const places = fc.array(fc.nat(1000), { maxLength: 5 });

describe('the head of an answer', () => {
  test('is the same in pieces of a byte, up to the longest that is taken', () => {
    const head = `HTTP/1.1 200 OK\nX: ${'x'.repeat(60_000)}\nY: 1\n\n`;
    const bytes = Buffer.from(`${head}body`);
    const whole = new LenientHead().take(bytes).toString();
    const pieces = new LenientHead();
    const given = Array.from(bytes, (_, at) => pieces.take(bytes.subarray(at, at + 1)).toString());
    expect(given.join('')).toBe(whole);
    expect(whole).toContain('\r\nY: 1\r\n\r\nbody');
  });

  test('behind more interim answers than anybody takes is left to HTTP, which refuses it', () => {
    const interim = 'HTTP/1.1 100\r\n\r\n';
    const odd = 'HTTP/1.1 200 OK\nA: b\n\n';
    expect(through(interim.repeat(21) + odd)).toBe(`${interim.repeat(21)}HTTP/1.1 200 OK\r\nA: b\r\n\r\n`);
    expect(through(interim.repeat(4000) + odd)).toBe(interim.repeat(4000) + odd);
  });

  test('loses its length where it is chunked as well, however it comes', () => {
    const before = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n';
    const after = 'Transfer-Encoding: chunked\r\n\r\n5\r\nContent-Length: 7\r\n0\r\n\r\n';
    fc.assert(
      fc.property(places, (cuts) => {
        const given = through(`${before}Content-Length: 10\r\n${after}`, cuts);
        expect(given).toBe(`${before}Connection: close\r\n${after}`);
      }),
    );
    const last = 'HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\ncontent-length: 10\r\n\r\n';
    expect(through(last)).toBe(last.replace('content-length: 10', 'Connection: close'));
  });

  test.each([
    ['lines without a return', 'HTTP/1.1 200 OK\nA: b\nC: d\n\nhello\n', 'A: b\r\nC: d'],
    ['some lines without one', 'HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\nhello\n', 'A: b\r\nC: d'],
    [
      'one length twice',
      answer('Content-Length: 6\r\nA: b\r\nContent-Length: 6'),
      'Content-Length: 6\r\nA: b',
    ],
    ['one length twice in a line', answer('content-length: 6, 6'), 'content-length: 6'],
    ['no coding by name', answer('Transfer-Encoding: identity\r\nContent-Length: 6'), 'Content-Length: 6'],
    ['a coding without a name', answer('Transfer-Encoding: \t\r\nContent-Length: 6'), 'Content-Length: 6'],
    [
      'no codings in a list',
      answer('Content-Length: 6\r\nTransfer-Encoding: None, ,identity'),
      'Content-Length: 6',
    ],
    [
      'no coding before chunks',
      answer('transfer-encoding: identity\r\nTransfer-Encoding: none, chunked').replace(
        'hello\n',
        '0\r\n\r\n',
      ),
      'Transfer-Encoding: chunked',
      '0\r\n\r\n',
    ],
    ['a length below nothing', answer('Content-Length: -1294967296\r\nA: b'), 'A: b'],
    ['a length without a value', answer('A: b\r\ncontent-length:'), 'A: b'],
    ['lengths that are no numbers', answer('Content-Length: 6 bytes,\r\nA: b\r\nContent-Length: +6'), 'A: b'],
    ['blanks before the colon', answer('A: b\r\nContent-Length\t : 6'), 'A: b\r\nContent-Length: 6'],
    ['a line that goes on', answer('A: b\r\n\t c\r\n d\r\nE: f'), 'A: b c d\r\nE: f'],
    ['lines that are none', answer('A b: c\r\n d\r\nno name\r\n: e\r\n\xfc: f\r\nG: h'), 'G: h'],
    [
      'chunks stated twice',
      answer('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked').replace('hello\n', '0\r\n\r\n'),
      'Transfer-Encoding: chunked\r\nConnection: close',
      '0\r\n\r\n',
    ],
    [
      'chunks stated twice in a line',
      answer('A: b\r\ntransfer-encoding: chunked, chunked').replace('hello\n', '0\r\n\r\n'),
      'A: b\r\ntransfer-encoding: chunked\r\nConnection: close',
      '0\r\n\r\n',
    ],
    ['what no text has', answer('A: b\x01c\x00\x7fd\xfc\te'), 'A: b c  d\xfc\te'],
  ])('is made one that HTTP takes, with %s', (_, text, fields, body = 'hello\n') => {
    fc.assert(
      fc.property(places, (cuts) => {
        expect(through(text, cuts)).toBe(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${body}`);
      }),
    );
  });

  test.each([
    ['a length alone', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'],
    ['chunks alone', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 5\r\n\r\n'],
    ['a coding whose name only begins like none', answer('Transfer-Encoding: nonesuch\r\nContent-Length: 6')],
    ['no HTTP', 'hello\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['two lengths of one body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello'],
    ['a length beside one that is none', answer('Content-Length: 6, -1')],
    ['a length that no number holds', answer('Content-Length: 99999999999999999999')],
    ['a body that looks odd', 'HTTP/1.1 200 OK\r\nA: b\r\n\r\nno name\nA : b\n\n'],
    ['no end', `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(70_000)}`],
    ['an end of the connection in it', 'HTTP/1.1 200 OK\r\nContent-Le'],
  ])('passes as it is with %s', (_, text) => {
    fc.assert(
      fc.property(places, (cuts) => {
        expect(through(text, cuts)).toBe(text);
      }),
    );
  });

  const chunked = (body: string) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
  const withoutEnd = '5\r\nhello\r\nC\r\n big\n world\n\r\n0\r\n';
  const strict = `${withoutEnd}\r\n`;
  test.each([
    ['blanks behind sizes', '5   \r\nhello\r\nC \r\n big\n world\n\r\n0     \r\n\r\n'],
    ['tabs around sizes', '\t5\t\r\nhello\r\n C\r\n big\n world\n\r\n0\r\n\r\n'],
    ['blanks before what a size says more', '5 ;a=b\r\nhello\r\nC ; x=y\r\n big\n world\n\r\n0\r\n\r\n'],
    ['what a size says more', '5\r\nhello\r\nC;x=y;z="a;b"\r\n big\n world\n\r\n0;last\r\n\r\n'],
    ['blanks within what a size says more', '5; a = b \r\nhello\r\nC;\r\n big\n world\n\r\n0\r\n\r\n'],
    ['sizes of one width, which the first one fills', '5\r\nhello\r\nC \r\n big\n world\n\r\n0 \r\n\r\n'],
    ['trailers', `${withoutEnd}A: b\r\nC: d\r\n\r\n`],
    ['trailers that go on in the next line, or are no fields', `${withoutEnd}A: b\r\n c\nno field\n\n`],
    ['lines without a return', '5\nhello\nC;x=y\n big\n world\n\n0\n\n'],
    ['a return only behind what they hold', '5\nhello\r\nC\n big\n world\n\r\n0\n\r\n'],
  ])('has its chunks made such that HTTP takes them, with %s', (_, body) => {
    fc.assert(
      fc.property(places, (cuts) => {
        expect(through(chunked(body), cuts)).toBe(chunked(strict));
      }),
    );
  });

  test.each([
    ['strict ones, whatever they hold', strict],
    ['strict ones with something behind them', `${strict}5 \nhello\n`],
    ['no size', 'hello\n5 \nhello\n'],
    ['no size behind an odd one', '5 \r\nhello\nx\n'],
    ['more than an odd size says', '5 \r\nhello world\r\n0\r\n\r\n'],
    ['an end of the connection in an odd one', '5 \r\nhel'],
    ['an end of the connection in a size', '5 '],
    ['a size that something follows', '5 x\r\nhello\r\n0\r\n\r\n'],
    ['a size without an end', `5${' '.repeat(10_000)}`],
  ])('has its chunks left to HTTP where there are %s', (_, body) => {
    fc.assert(
      fc.property(places, (cuts) => {
        const given = through(chunked(body), cuts);
        expect(given).toBe(
          chunked(body.replace(/^5 \r\n(?=hel)/, '5\r\n').replace('hello\nx', 'hello\r\nx')),
        );
      }),
    );
  });

  test('has so many odd and tiny chunks left to HTTP that they would hold everybody up', () => {
    const tiny = '1 \r\na\r\n'.repeat(9000);
    const given = through(chunked(tiny));
    expect(given.startsWith(chunked('1\r\na\r\n'.repeat(400)))).toBe(true);
    expect(given.endsWith('1 \r\na\r\n'.repeat(8000))).toBe(true);
  });

  test('leaves out trailers, and leaves what is behind them', () => {
    const odd = '5 \r\nhello\r\n0\r\nA: b\nC: d\r\n\nrest \n';
    fc.assert(
      fc.property(places, (cuts) => {
        expect(through(chunked(odd), cuts)).toBe(chunked('5\r\nhello\r\n0\r\n\r\nrest \n'));
      }),
    );
  });

  test('has trailers without an end left to HTTP', () => {
    const trailer = `A: ${'b'.repeat(4000)}\r\n`;
    const given = through(chunked(withoutEnd + trailer.repeat(40)));
    expect(given).toBe(chunked(withoutEnd + trailer.repeat(24)));
  });

  test('has pieces of strict chunks passed on as they are, without a copy', () => {
    const head = new LenientHead();
    head.take(Buffer.from(chunked('')));
    const piece = Buffer.from('5\r\nhello\r\n5\r\nworld\r\n');
    expect(head.take(piece)).toBe(piece);
  });
});
