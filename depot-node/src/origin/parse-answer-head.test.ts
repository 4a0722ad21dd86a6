import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MOST_HEAD_BYTES } from '../relay/answer-reader.ts';
import { parseAnswerHead } from './parse-answer-head.ts';

const parse = (...lines: string[]) => parseAnswerHead(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
const PART = 'HTTP/1.1 206 Partial Content';

describe('the head of an answer that others follow', () => {
  test('is read with its length and that of its body, whatever comes behind it', () => {
    const head = `${PART}\r\nETag: "one"\r\nContent-Range:bytes 0-4/9 \r\nContent-Length: 5\r\n\r\n`;
    expect(parseAnswerHead(Buffer.from(`${head}helloHTTP/1.1 206`))).toEqual({
      head: {
        statusCode: 206,
        headers: { etag: '"one"', 'content-range': 'bytes 0-4/9', 'content-length': '5' },
        rawHeaders: ['ETag', '"one"', 'Content-Range', 'bytes 0-4/9', 'Content-Length', '5'],
      },
      sizeBytes: head.length,
      bodyBytes: 5,
      isLast: false,
    });
  });

  test('is waited for until it is there, and no longer than heads are', () => {
    const head = `${PART}\r\nETag: "one"\r\n\r\n`;
    for (let end = 0; end < head.length; end += 1)
      expect(parseAnswerHead(Buffer.from(head.slice(0, end)))).toBe('incomplete');
    expect(parseAnswerHead(Buffer.alloc(MOST_HEAD_BYTES, 'a'))).toBe('malformed');
    expect(parse(PART, `X: ${'a'.repeat(MOST_HEAD_BYTES)}`)).toBe('malformed');
  });

  test('keeps nobody waiting, however long its blanks are: thousands of them are read within a moment', () => {
    const blanks = ' \t'.repeat(8000);
    for (let turn = 0; turn < 1000; turn += 1)
      for (const value of [`${blanks}\x01`, `a${blanks}\x01`, `${'a '.repeat(8000)}\x01`])
        expect(parse(PART, `X:${value}`)).toBe('malformed');
  });

  test('says whether the connection ends behind it', () => {
    expect(parse(PART, 'Connection: Close')).toMatchObject({ isLast: true });
    expect(parse(PART, 'Connection: x, close')).toMatchObject({ isLast: true });
    expect(parse(PART, 'Connection: keep-alive')).toMatchObject({ isLast: false });
    expect(parse(PART, 'Connection: not-close')).toMatchObject({ isLast: false });
  });

  test('has no body length where chunks or the end of the connection frame it, and none where there is no body', () => {
    expect(parse(PART, 'Transfer-Encoding: chunked')).toMatchObject({ bodyBytes: undefined });
    expect(parse(PART)).toMatchObject({ bodyBytes: undefined });
    expect(parse('HTTP/1.1 304 Not Modified', 'Content-Length: 5')).toMatchObject({ bodyBytes: 0 });
    expect(parse('HTTP/1.1 204')).toMatchObject({ bodyBytes: 0 });
    expect(parse('HTTP/1.1 100 Continue')).toMatchObject({ bodyBytes: 0 });
  });

  test.each([
    ['another protocol', ['HTTP/1.0 206 Partial Content']],
    ['no status', ['HTTP/1.1 Partial Content']],
    ['a status of four digits', ['HTTP/1.1 2060 Partial Content']],
    ['a folded line', [PART, 'X: a', ' b']],
    ['a name with a space behind it', [PART, 'Content-Length : 5']],
    ['a line without a name', [PART, ': 5']],
    ['a line end alone', [PART, 'X: a\nContent-Length: 5']],
    ['a carriage return alone', [PART, 'X: a\rContent-Length: 5']],
    ['a zero byte', [PART, 'X: a\0']],
    ['length and chunks', [PART, 'Content-Length: 5', 'Transfer-Encoding: chunked']],
    ['two lengths', [PART, 'Content-Length: 5', 'Content-Length: 6']],
    ['a list of lengths', [PART, 'Content-Length: 5, 5']],
    ['a signed length', [PART, 'Content-Length: +5']],
    ['a length that no number holds', [PART, 'Content-Length: 9007199254740993']],
    ['two ranges', [PART, 'Content-Range: bytes 0-4/9', 'Content-Range: bytes 1-5/9']],
    ['two tags', [PART, 'ETag: "a"', 'ETag: "b"']],
  ])('is refused with %s', (_, lines) => {
    expect(parse(...lines)).toBe('malformed');
  });

  test('may state one length twice, and lists in several lines', () => {
    expect(parse(PART, 'Content-Length: 5', 'content-length: 5', 'Via: a', 'Via: b')).toMatchObject({
      bodyBytes: 5,
      head: { headers: { 'content-length': '5', via: 'a, b' } },
    });
  });

  test('harms nobody whatever it is made of', () => {
    const piece = fc.constantFrom(
      PART,
      '\r\n',
      '\n',
      ' ',
      ':',
      'content-length',
      '5',
      'chunked',
      '__proto__',
      '\x00',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
        const parsed = parseAnswerHead(Buffer.from(`${pieces.join('')}\r\n\r\n`, 'latin1'));
        if (typeof parsed === 'string') return;
        expect(parsed.sizeBytes).toBeGreaterThan(0);
        expect(parsed.bodyBytes ?? 0).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
