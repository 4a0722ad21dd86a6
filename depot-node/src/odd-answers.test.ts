import { createHash, randomBytes } from 'node:crypto';
import { get, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { HEADERS } from '@longhaul/shared';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { exchangeText, fetchRaw, type RawAnswer } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const file = randomBytes(1_500_000);
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
/**
 * What clients ask for that name no version: to see whether parts can be asked for, to go on, or for the end
 * of an archive.
 */
const PARTS = ['bytes=0-0', 'bytes=0-1', 'bytes=1-', 'bytes=7-', 'bytes=-500'];
const VERSION = { ETag: '"v1"', 'Accept-Ranges': 'bytes' };

describe.each(await testPlanes())('with a relay of %s,', (_kind, splice) => {
  let overlay: TestOverlay;
  let origin: RequestListener;

  beforeAll(async () => {
    overlay = await startTestOverlay(['d1', 'd2'], (asked, answer) => origin(asked, answer), splice, {
      config: { failover: { tries: 3 } },
    });
  });
  afterAll(() => overlay.close());
  beforeEach(() => {
    for (const id of ['d1', 'd2']) overlay.depot(id).events.length = 0;
  });

  const download = (claims = {}, headers = {}): Promise<RawAnswer> =>
    fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file.bin`, claims), { headers });

  test('a head that comes before any byte of its body is passed on before it', async () => {
    origin = (_asked, answer) => {
      answer.writeHead(200, { ...VERSION, 'Content-Length': file.length }).flushHeaders();
      const isSending = () => overlay.depot('d1').depot.downloads()[0]?.state.is === 'sending';
      void vi.waitUntil(isSending, { timeout: 10_000, interval: 5 }).then(() => answer.end(file));
    };
    const { status, body, broken } = await download();
    expect({ status, broken }).toEqual({ status: 200, broken: undefined });
    expect(hash(body)).toBe(hash(file));
  });

  test('a name in bytes beyond ASCII comes with the file, and with its head alone', async () => {
    const disposition = Buffer.from('attachment; filename="报表.zip"', 'utf8').toString('latin1');
    origin = (_asked, answer) => {
      answer.writeHead(200, { 'Content-Disposition': disposition, 'Content-Length': file.length }).end(file);
    };
    for (const method of ['GET', 'HEAD']) {
      const address = overlay.relayUrl(`${overlay.originUrl}/file.bin`);
      const { status, headers } = await fetchRaw(address, { method });
      expect({ status, name: headers['content-disposition'] }).toEqual({
        status: 200,
        name: `${disposition}; filename*=UTF-8''%E6%8A%A5%E8%A1%A8.zip`,
      });
    }
  });

  test.each([1, 4])('a name in bytes beyond ASCII goes before its file with %i lanes', async (lanes) => {
    const disposition = Buffer.from('attachment; filename="ä报.zip"', 'utf8').toString('latin1');
    origin = (asked, answer) => {
      const [, from = '0', to = ''] = /^bytes=([0-9]+)-([0-9]*)$/.exec(asked.headers.range ?? '') ?? [];
      const [start, end] = [Number(from), to === '' ? file.length : Number(to) + 1];
      const part = { 'Content-Range': `bytes ${start}-${end - 1}/${file.length}` };
      const isPart = asked.headers.range !== undefined;
      const head = { ...VERSION, 'Content-Disposition': disposition, 'Content-Length': end - start };
      answer.socket?.setDefaultEncoding('latin1');
      // Behind the head, so that it goes alone.
      answer.writeHead(isPart ? 206 : 200, { ...head, ...(isPart ? part : {}) }).flushHeaders();
      setTimeout(() => answer.end(file.subarray(start, end)), 50);
    };
    const { headers, body } = await download({ lanes });
    expect(headers['content-disposition']).toBe(`${disposition}; filename*=UTF-8''%C3%A4%E6%8A%A5.zip`);
    expect(hash(body)).toBe(hash(file));
  });

  describe('what a program says with the whole alone', () => {
    const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('base64');
    const said = { 'Content-Type': 'application/zip', 'Content-Disposition': 'attachment; filename="a.zip"' };
    let stated: Record<string, string>;

    beforeEach(() => {
      stated = { ...said, 'Content-MD5': md5(file) };
      origin = (asked, answer) => {
        if (asked.headers.range !== undefined) return sendPart(asked, answer);
        return answer.writeHead(200, { ETag: '"v1"', ...stated, 'Content-Length': file.length }).end(file);
      };
    });

    test('comes over lanes, too, for each file of its folder', async () => {
      for (const name of ['1', '2']) {
        const { headers, body } = await fetchRaw(
          overlay.relayUrl(`${overlay.originUrl}/said/${name}`, { lanes: 4 }),
        );
        expect(hash(body)).toBe(hash(file));
        expect(headers).toMatchObject({
          'content-type': said['Content-Type'],
          'content-disposition': said['Content-Disposition'],
          'content-md5': md5(file),
          'content-length': String(file.length),
          // Its blocks have shown it.
          'accept-ranges': 'bytes',
        });
        expect(overlay.originRequests.at(-1)?.headers.range, 'the last question').toBeDefined();
      }
    });

    test('is held to over lanes, too', async () => {
      stated = { 'Content-MD5': md5(Buffer.from('another file')) };
      const address = overlay.relayUrl(`${overlay.originUrl}/held/file`, { lanes: 4 });
      expect((await fetchRaw(address)).broken).toBe('ECONNRESET');
    });

    test('is not said of a part that a client asks for', async () => {
      const { status, headers, body } = await download({ lanes: 4 }, { range: 'bytes=1000-' });
      expect({ status, range: headers['content-range'] }).toEqual({
        status: 206,
        range: `bytes 1000-${file.length - 1}/${file.length}`,
      });
      expect(headers['content-md5']).toBeUndefined();
      expect(hash(body)).toBe(hash(file.subarray(1000)));
    });
  });

  test('a browser makes the name of a file that has none, unless a redirect has led to another address than it sees', async () => {
    origin = (asked, answer) => {
      if (asked.url?.startsWith('/moved') === true)
        return answer.writeHead(302, { Location: '/download.php?id=6' }).end();
      return answer.writeHead(200, { 'Content-Type': 'application/zip' }).end('zip');
    };
    const nameOf = async (path: string, program: string) => {
      const address = overlay.relayUrl(overlay.originUrl + path);
      return (await fetchRaw(address, { headers: { 'user-agent': program } })).headers['content-disposition'];
    };
    expect(await nameOf('/download.php?id=5', 'Mozilla/5.0')).toBe('attachment');
    for (const [path, program] of [
      ['/download.php?id=5', 'Wget/1.21.3'],
      ['/moved/here', 'Mozilla/5.0'],
    ] as const)
      expect(await nameOf(path, program)).toBe('attachment; filename="download.php"');
  });

  test.each([
    ['another version', { ETag: '"v2"' }],
    ['no version', { ETag: undefined }],
  ])('an origin that pays no heed to If-Match gives %s to nobody who asked for his own', async (_, own) => {
    origin = (_asked, answer) => {
      const { ETag } = own;
      answer.writeHead(200, { ...(ETag ? { ETag } : {}), 'Content-Length': file.length }).end(file);
    };
    for (const condition of ['"v1"', 'W/"v1"', '"v0", "v1"']) {
      const { status, headers } = await download({}, { 'If-Match': condition });
      expect({ status, code: headers[HEADERS.error] }).toEqual({ status: 502, code: 'origin-changed' });
    }
    expect(await download({}, { 'If-Match': '*' })).toMatchObject({ status: 200, broken: undefined });
  });

  test.each([
    ['another tag', '"v0"'],
    ['an earlier date', 'Mon, 31 Dec 2018 00:00:00 GMT'],
  ])(
    'an origin that pays no heed to If-Range gives nobody a part of a version with %s: the whole comes',
    async (_, own) => {
      origin = (asked, answer) => {
        const [, first] = /^bytes=([0-9]+)-/.exec(asked.headers.range ?? '') ?? [];
        const [, last = String(file.length - 1)] = /-([0-9]+)$/.exec(asked.headers.range ?? '') ?? [];
        const body = file.subarray(Number(first ?? 0), Number(last) + 1);
        const range = first === undefined ? {} : { 'Content-Range': `bytes ${first}-${last}/${file.length}` };
        const dates = { 'Last-Modified': 'Tue, 01 Jan 2019 00:00:00 GMT' };
        answer
          .writeHead(first === undefined ? 200 : 206, {
            ...VERSION,
            ...dates,
            ...range,
            'Content-Length': body.length,
          })
          .end(body);
      };
      for (const lanes of [1, 3]) {
        for (const range of ['bytes=1000000-', 'bytes=1000000-1200000']) {
          const { status, body, broken } = await download({ lanes }, { range, 'if-range': own });
          expect({ status, broken }).toEqual({ status: 200, broken: undefined });
          expect(hash(body)).toBe(hash(file));
        }
        const same = await download({ lanes }, { range: 'bytes=1000000-', 'if-range': '"v1"' });
        expect(same).toMatchObject({ status: 206, broken: undefined });
        expect(hash(same.body)).toBe(hash(file.subarray(1_000_000)));
      }
    },
  );

  test('a whole that comes for a part is gone on with as a whole, over another way', async () => {
    const isBroken = { yet: false };
    origin = (asked, answer) => {
      const [, first] = /^bytes=([0-9]+)-/.exec(asked.headers.range ?? '') ?? [];
      const body = file.subarray(Number(first ?? 0));
      const range = first && { 'Content-Range': `bytes ${first}-${file.length - 1}/${file.length}` };
      answer.writeHead(first ? 206 : 200, { ETag: 'W/"v2"', ...range, 'Content-Length': body.length });
      const isCut = first === undefined && !isBroken.yet;
      if (isCut) answer.write(body.subarray(0, 500_000), () => answer.socket?.resetAndDestroy());
      else answer.end(body);
      isBroken.yet ||= isCut;
    };
    const { status, body, broken } = await download({}, { range: 'bytes=1000000-', 'if-range': '"v1"' });
    expect({ status, broken, wasBroken: isBroken.yet }).toEqual({
      status: 200,
      broken: undefined,
      wasBroken: true,
    });
    expect(hash(body)).toBe(hash(file));
  });

  test('an origin that pays no heed to If-Unmodified-Since gives nothing of a later version', async () => {
    const modified = 'Tue, 01 Jan 2019 00:00:00 GMT';
    origin = (_asked, answer) => {
      answer.writeHead(200, { 'Last-Modified': modified, 'Content-Length': file.length }).end(file);
    };
    const since = (date: string) => download({}, { 'if-unmodified-since': date });
    const { status, headers } = await since('Mon, 31 Dec 2018 00:00:00 GMT');
    expect({ status, code: headers[HEADERS.error] }).toEqual({ status: 502, code: 'origin-changed' });
    for (const date of [modified, 'Wed, 02 Jan 2019 00:00:00 GMT', 'no date'])
      expect(await since(date)).toMatchObject({ status: 200, broken: undefined });
  });

  test.each([
    ['of a file whose length is not known yet', 'bytes=5-9', { 'Content-Range': 'bytes 5-9/*' }],
    [
      'in a form whose name is written otherwise',
      'bytes=5-6,8-9',
      { 'Content-Type': 'Multipart/ByteRanges; boundary=x' },
    ],
  ])('a part %s is passed on to the client who asked for it', async (_, range, headers) => {
    origin = (_asked, answer) => {
      answer.writeHead(206, { ...headers, 'Content-Length': 5 }).end('parts');
    };
    const answer = await download({}, { range });
    expect(answer).toMatchObject({ status: 206, broken: undefined, headers: { 'content-length': '5' } });
    expect(String(answer.body)).toBe('parts');
    const refused = await download({}, { range: 'bytes=6-9' });
    expect(refused.headers[HEADERS.error]).toBe('origin-bad-answer');
  });

  test.each(['"v1"', 'W/"v1"', '"v0", "v1"', '*'])(
    'the version asked for by If-Match: %s comes',
    async (condition) => {
      origin = (_asked, answer) => {
        answer.writeHead(200, { ...VERSION, 'Content-Length': file.length }).end(file);
      };
      const { status, body } = await download({}, { 'If-Match': condition });
      expect(status).toBe(200);
      expect(hash(body)).toBe(hash(file));
    },
  );

  /** Answers in chunks, whose sum is not what `Content-Range` says, where `change` is given. */
  const sendPart = (asked: IncomingMessage, answer: ServerResponse, change = 0) => {
    const [, first, last] = /^bytes=([0-9]+)-([0-9]*)$/.exec(asked.headers.range ?? '') ?? [];
    const from = Number(first);
    const to = last ? Math.min(Number(last) + 1, file.length) : file.length;
    answer.writeHead(206, { ...VERSION, 'Content-Range': `bytes ${from}-${to - 1}/${file.length}` });
    answer.end(Buffer.concat([file, randomBytes(change > 0 ? change : 0)]).subarray(from, to + change));
  };

  test.each([
    ['fewer', -1000],
    ['more', 1000],
  ])('a rest in chunks that are %s bytes than it says is not taken for the whole', async (_, change) => {
    let requests = 0;
    origin = (asked, answer) => {
      requests += 1;
      if (requests > 1) return sendPart(asked, answer, requests === 2 ? change : 0);
      answer.writeHead(200, { ...VERSION, 'Content-Length': file.length });
      answer.write(file.subarray(0, 600_000), () => answer.socket?.resetAndDestroy());
    };
    const { body, broken } = await download();
    expect(broken).toBeUndefined();
    expect(hash(body)).toBe(hash(file));
    expect(requests).toBe(3);
  });

  test.each([
    ['fewer', -1000],
    ['more', 1000],
  ])('a first block in chunks that are %s bytes than it says harms no lane', async (_, change) => {
    let requests = 0;
    origin = (asked, answer) => {
      requests += 1;
      sendPart(asked, answer, requests === 1 ? change : 0);
    };
    const { body, broken } = await download({ lanes: 2 });
    expect(broken).toBeUndefined();
    expect(hash(body)).toBe(hash(file));
  });

  test('a body whose chunks come many at a time has one waiter for a client that does not read', async () => {
    const pieces = Array.from({ length: 4000 }, (_, index) => Buffer.alloc(9000, index % 251));
    origin = (_asked, answer) => {
      for (const piece of pieces) answer.write(piece);
      answer.end();
    };
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => warnings.push(name);
    process.on('warning', onWarning);
    const answer = await new Promise<IncomingMessage>((resolve) => {
      get(overlay.relayUrl(`${overlay.originUrl}/chunks`), resolve);
    });
    // Nobody reads until the depot and its kernel have taken what they take.
    const sender = overlay.originRequests.at(-1)?.socket;
    let takenBytes = -1;
    await expect
      .poll(
        () => {
          const isStill = sender?.bytesWritten === takenBytes;
          takenBytes = sender?.bytesWritten ?? 0;
          return isStill;
        },
        { interval: 200 },
      )
      .toBe(true);
    expect((await buffer(answer)).equals(Buffer.concat(pieces))).toBe(true);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  test('a part in fewer chunks than it says is not complete for the client either', async () => {
    origin = (asked, answer) => sendPart(asked, answer, -1000);
    const { status, broken } = await download({}, { range: 'bytes=1000-1399999' });
    expect({ status, broken }).toEqual({ status: 206, broken: 'ECONNRESET' });
  });

  test('a part whose first bytes come in chunks, and its rest by length, is one message of one length', async () => {
    let requests = 0;
    origin = (asked, answer) => {
      requests += 1;
      const [, first, last] = /^bytes=([0-9]+)-([0-9]+)$/.exec(asked.headers.range ?? '') ?? [];
      const [from, to] = [Number(first), Number(last) + 1];
      const body = file.subarray(from, to);
      const range = { ...VERSION, 'Content-Range': `bytes ${from}-${to - 1}/${file.length}` };
      if (requests > 1) answer.writeHead(206, { ...range, 'Content-Length': body.length }).end(body);
      else
        answer.writeHead(206, range).write(body.subarray(0, 100_000), () => answer.socket?.resetAndDestroy());
    };
    const { status, headers, body, broken } = await download({}, { range: 'bytes=1000-1399999' });
    expect({ status, broken, requests }).toEqual({ status: 206, broken: undefined, requests: 2 });
    expect(headers).toMatchObject({ 'content-length': '1399000' });
    expect(headers['transfer-encoding']).toBeUndefined();
    expect(hash(body)).toBe(hash(file.subarray(1000, 1_400_000)));
  });

  test('a rest that the origin gives in shorter parts than it is asked for is asked on for', async () => {
    const ranges: string[] = [];
    origin = (asked, answer) => {
      const { range } = asked.headers;
      if (range === undefined) {
        answer.writeHead(200, { ...VERSION, 'Content-Length': file.length });
        answer.write(file.subarray(0, 100_000), () => answer.socket?.resetAndDestroy());
        return;
      }
      ranges.push(range);
      const [, first, last] = /^bytes=([0-9]+)-([0-9]+)$/.exec(range) ?? [];
      const from = Number(first);
      const to = Math.min(from + 300_000, Number(last) + 1, file.length);
      const head = { ...VERSION, 'Content-Range': `bytes ${from}-${to - 1}/${file.length}` };
      answer.writeHead(206, { ...head, 'Content-Length': to - from }).end(file.subarray(from, to));
    };
    for (const lanes of [1, 3]) {
      ranges.length = 0;
      const { body, broken } = await download({ lanes });
      expect(broken).toBeUndefined();
      expect(hash(body)).toBe(hash(file));
      expect(ranges.length).toBeGreaterThan(3);
    }
    // The way has not failed: it is not left.
    const failovers = overlay.depot('d1').events.filter(({ type }) => type === 'failover');
    expect(failovers).toHaveLength(1);
  });

  test('a rest of which the origin leaves out the date that it was asked by is taken', async () => {
    const modified = { 'Last-Modified': 'Tue, 01 Jan 2019 00:00:00 GMT', 'Accept-Ranges': 'bytes' };
    origin = (asked, answer) => {
      const from = Number(/^bytes=([0-9]+)-/.exec(asked.headers.range ?? '')?.[1] ?? 0);
      if (from > 0) {
        const range = { 'Content-Range': `bytes ${from}-${file.length - 1}/${file.length}` };
        answer.writeHead(206, { ...range, 'Content-Length': file.length - from }).end(file.subarray(from));
        return;
      }
      answer.writeHead(200, { ...modified, 'Content-Length': file.length });
      answer.write(file.subarray(0, 400_000), () => answer.socket?.resetAndDestroy());
    };
    const { body, broken } = await download();
    expect(broken).toBeUndefined();
    expect(hash(body)).toBe(hash(file));
  });

  test.each(['9007199254740993', '99999999999999999999'])(
    'a length that no number holds, %s, is no answer',
    async (length) => {
      origin = (_asked, answer) => {
        answer.socket?.end(
          `HTTP/1.1 206 Partial Content\r\nETag: "v1"\r\nContent-Range: bytes 0-9/10\r\nContent-Length: ${length}\r\n\r\nhello`,
        );
      };
      const { status, headers } = await download({}, { range: 'bytes=0-9' });
      expect({ status, code: headers[HEADERS.error] }).toEqual({ status: 502, code: 'origin-bad-answer' });
    },
  );

  const PLAIN = 'HTTP/1.1 200 OK\r\nConnection: close\r\n';
  const CHUNKED = 'Transfer-Encoding: chunked\r\n';
  test.each([
    ['behind its length', `${PLAIN}Content-Length: 5\r\n\r\nhello, world`],
    [
      'behind its length, on a connection that is kept',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\n\n',
    ],
    ['behind its chunks', `${PLAIN}${CHUNKED}\r\n5\r\nhello\r\n0\r\n\r\n, world`],
    ['in sizes with blanks', `${PLAIN}${CHUNKED}\r\n5    \r\nhello\r\n0    \r\n\r\n`],
    ['in lines without a return', `${PLAIN}${CHUNKED}\r\n5\nhello\n0\n\n`],
    ['in what its sizes say more', `${PLAIN}${CHUNKED}\r\n5; a = b\r\nhello\r\n0;\r\n\r\n`],
    ['in sizes of one width', `${PLAIN}${CHUNKED}\r\n4\r\nhell\r\n1 \r\no\r\n0  \r\n\r\n`],
    ['in its trailers', `${PLAIN}${CHUNKED}\r\n5\r\nhello\r\n0\r\nA: b\r\n c\nno field\r\n\r\n`],
    ['in a coding that it states twice', `${PLAIN}${CHUNKED}${CHUNKED}\r\n5\r\nhello\r\n0\r\n\r\n`],
  ])('an answer with something odd %s is what curl takes it for, and asked for once', async (_, text) => {
    let requests = 0;
    origin = (_asked, answer) => {
      requests += 1;
      answer.socket?.end(text);
    };
    const { status, body, broken } = await download();
    expect({ status, body: body.toString(), broken, requests }).toEqual({
      status: 200,
      body: 'hello',
      broken: undefined,
      requests: 1,
    });
  });

  test('an answer to HEAD ends with its head, whatever the origin sends behind it', async () => {
    const methods: (string | undefined)[] = [];
    origin = ({ method }, answer) => {
      methods.push(method);
      answer.socket?.end(
        Buffer.concat([Buffer.from(`${PLAIN}ETag: "v1"\r\nContent-Length: ${file.length}\r\n\r\n`), file]),
      );
    };
    const { pathname, search, origin: depot } = new URL(overlay.relayUrl(`${overlay.originUrl}/file.bin`));
    const ask = (connection: string) =>
      `HEAD ${pathname}${search} HTTP/1.1\r\nHost: d1\r\nConnection: ${connection}\r\n\r\n`;
    const answers = await exchangeText(depot, ask('keep-alive') + ask('close'));
    expect(answers.match(/HTTP\/1\.1 200 OK\r\n/g)).toHaveLength(2);
    expect(answers.split('\r\n\r\n').at(-1)).toBe('');
    expect(answers.length).toBeLessThan(4000);
    expect(methods).toEqual(['HEAD', 'HEAD']);
  });

  test('an answer that nothing has changed is passed on as it is, whatever comes behind it', async () => {
    let requests = 0;
    origin = (_asked, answer) => {
      requests += 1;
      answer.socket?.end(
        'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\nConnection: close\r\n\r\n<p>not modified',
      );
    };
    const answer = await download({}, { 'If-None-Match': '"v1"' });
    expect(answer).toMatchObject({ status: 304, broken: undefined, body: Buffer.alloc(0) });
    expect(requests).toBe(1);
  });

  test('a version whose tag has no quotes is gone on with by whoever gives it back as it was', async () => {
    const ETag = 'd41d8cd98f00b204e9800998ecf8427e';
    origin = (asked, answer) => {
      const from = Number(/^bytes=([0-9]+)-/.exec(asked.headers.range ?? '')?.[1] ?? 0);
      const range = { 'Content-Range': `bytes ${from}-${file.length - 1}/${file.length}` };
      answer
        .writeHead(206, { ETag, ...range, 'Content-Length': file.length - from })
        .end(file.subarray(from));
    };
    for (const name of ['If-Match', 'If-Range']) {
      const same = await download({}, { Range: 'bytes=900000-', [name]: ETag });
      expect(same).toMatchObject({ status: 206, broken: undefined });
      expect(hash(same.body)).toBe(hash(file.subarray(900_000)));
    }
    const other = await download({}, { Range: 'bytes=900000-', 'If-Match': ETag.replace('d', 'e') });
    expect(other.headers[HEADERS.error]).toBe('origin-changed');
  });

  test.each([400, 403, 404, 451])(
    'a redirect whose target refuses with %d after a while is asked for another one',
    async (refusal) => {
      let targets = 0;
      const asked = new Map<string, number>();
      origin = (request, answer) => {
        const { url = '', headers } = request;
        if (url.includes('file.bin')) {
          targets += 1;
          answer.writeHead(302, { Location: `/signed${targets}`, 'Content-Length': 0 }).end();
          return;
        }
        const times = (asked.get(url) ?? 0) + 1;
        asked.set(url, times);
        if (times > 3) {
          answer.writeHead(refusal, { 'Content-Length': 0 }).end();
          return;
        }
        const [, first, last] = /^bytes=([0-9]+)-([0-9]*)$/.exec(headers.range ?? '') ?? [];
        const from = Number(first ?? 0);
        const to = last ? Math.min(Number(last) + 1, file.length) : file.length;
        const range =
          first === undefined ? {} : { 'Content-Range': `bytes ${from}-${to - 1}/${file.length}` };
        answer.writeHead(first === undefined ? 200 : 206, {
          ...VERSION,
          ...range,
          'Content-Length': to - from,
        });
        answer.end(file.subarray(from, to));
      };
      const { status, body, broken } = await download({ lanes: 4 });
      expect({ status, broken }).toEqual({ status: 200, broken: undefined });
      expect(hash(body)).toBe(hash(file));
    },
  );

  test.each([
    ['once', '10'],
    ['wrongly', '3'],
  ])('an answer that states its length %s beside its chunks is what its chunks are', async (_, length) => {
    origin = (_asked, answer) => {
      answer.socket?.end(
        `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n`,
      );
    };
    const { status, body, broken, headers } = await download();
    expect({ status, body: body.toString(), broken }).toEqual({
      status: 200,
      body: 'helloworld',
      broken: undefined,
    });
    expect(headers['content-length']).toBeUndefined();
  });

  test.each<[string, (from: number, to: number) => [number, Record<string, string | number>]]>([
    ['as 200', (from, to) => [200, { 'Content-Range': `bytes ${from}-${to - 1}/${file.length}` }]],
    ['as 200 without a word of it', () => [200, {}]],
    ['as 203', (from, to) => [203, { 'Content-Range': `bytes ${from}-${to - 1}/${file.length}` }]],
    ['as if the file ended there', (from, to) => [206, { 'Content-Range': `bytes ${from}-${to - 1}/${to}` }]],
  ])(
    'a part that an origin gives %s is not passed off as the file that a client asked for',
    async (_, headOf) => {
      origin = (asked, answer) => {
        const [, first, last] = /^bytes=([0-9]+)-([0-9]*)$/.exec(asked.headers.range ?? '') ?? [];
        const from = Number(first ?? 0);
        const to = last ? Math.min(Number(last) + 1, file.length) : file.length;
        const isCut = to < file.length;
        const [status, headers] = isCut ? headOf(from, to) : [200, {}];
        answer.writeHead(status, { ...VERSION, ...headers, 'Content-Length': to - from });
        answer.end(file.subarray(from, to));
      };
      const { status, body, broken } = await download({ lanes: 4 });
      expect({ status, broken, bytes: body.length }).toEqual({
        status: 200,
        broken: undefined,
        bytes: file.length,
      });
      expect(hash(body)).toBe(hash(file));
    },
  );

  test.each([
    ['lines that end without a return', (head: string) => head.replaceAll('\r\n', '\n')],
    ['its length twice', (head: string) => head.replace(/(Content-Length: .*\r\n)/, '$1$1')],
    ['a coding that is none', (head: string) => head.replace('ETag', 'Transfer-Encoding: identity\r\nETag')],
    ['a line that is no field', (head: string) => head.replace('ETag', 'X Y\xfc\x01: z\r\nETag')],
  ])('an answer whose head browsers take comes, over lanes as well: %s', async (_, change) => {
    origin = (asked, answer) => {
      const [, first, last] = /^bytes=([0-9]+)-([0-9]*)$/.exec(asked.headers.range ?? '') ?? [];
      const body = file.subarray(Number(first ?? 0), last ? Number(last) + 1 : file.length);
      const end = Number(first ?? 0) + body.length - 1;
      const range = first === undefined ? '' : `Content-Range: bytes ${first}-${end}/${file.length}\r\n`;
      const status = first === undefined ? '200 OK' : '206 Partial Content';
      const head = `HTTP/1.1 ${status}\r\nETag: "v1"\r\nContent-Length: ${body.length}\r\n${range}\r\n`;
      answer.socket?.write(Buffer.concat([Buffer.from(change(head), 'latin1'), body]));
    };
    for (const lanes of [1, 3]) {
      const { status, body, broken } = await download({ lanes });
      expect({ status, broken }).toEqual({ status: 200, broken: undefined });
      expect(hash(body)).toBe(hash(file));
    }
  });

  test.each([
    ['bytes=1000000-', 1_000_000, file.length],
    ['bytes=0-9', 0, 10],
    [undefined, 0, 10],
  ])(
    'a part that is called the whole is no answer to a client that asked for %s',
    async (range, from, to) => {
      const give = (start: number, end: number) => {
        origin = (_asked, answer) => {
          answer.writeHead(200, {
            'Content-Range': `bytes ${start}-${end - 1}/${file.length}`,
            'Content-Length': end - start,
          });
          answer.end(file.subarray(start, end));
        };
      };
      give(from, to);
      const asked = range === undefined ? {} : { range };
      const { status, headers } = await download({}, asked);
      expect({ status, code: headers[HEADERS.error] }).toEqual({ status: 502, code: 'origin-bad-answer' });
      // There are origins that say the same of a whole file.
      give(0, file.length);
      expect(hash((await download({}, asked)).body)).toBe(hash(file));
    },
  );

  test.each([400, 403, 406, 416, 500, 501])(
    'an origin that answers whoever asks for a part with %i gives the whole to a client that asked for that',
    async (refusal) => {
      origin = (asked, answer) => {
        if (asked.headers.range === undefined) answer.writeHead(200, VERSION).end(file);
        else answer.writeHead(refusal, { 'Content-Length': 0 }).end();
      };
      const { status, body, broken } = await download({ lanes: 4 });
      expect({ status, broken }).toEqual({ status: 200, broken: undefined });
      expect(hash(body)).toBe(hash(file));
    },
  );

  test('an origin gets what a client says of its languages, and of the digests that it wants', async () => {
    const said = {
      'accept-language': 'de, en;q=0.5',
      'want-digest': 'SHA-256',
      'want-repr-digest': 'sha-256=1',
    };
    await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file.bin`), { headers: said });
    expect(overlay.originRequests.at(-1)?.headers).toMatchObject(said);
  });

  test('an origin that says again and again that it is still at work, as browsers bear it, has those led to it who begin', async () => {
    origin = (_asked, answer) => {
      answer.socket?.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(25));
      answer.writeHead(200, { ...VERSION, 'Content-Length': file.length }).end(file);
    };
    const url = `${overlay.originUrl}/archive.zip`;
    for (const claims of [
      { chains: [['d1', 'd2']] },
      { chains: [['d1']] },
      { chains: [['d1', 'd2']], lanes: 4 },
    ]) {
      const before = overlay.originRequests.length;
      const led = await fetchRaw(overlay.relayUrl(url, claims));
      expect(led).toMatchObject({ status: 307, headers: { location: url } });
      // It would work for as long again.
      expect(overlay.originRequests.length - before).toBe(1);
    }
    const before = overlay.originRequests.length;
    const manyWays = overlay.relayUrl(url, { chains: [['d1', 'd2'], ['d1', 'd3'], ['d1']] });
    const rest = await fetchRaw(manyWays, { headers: { range: 'bytes=900000-', 'if-range': '"v1"' } });
    expect(rest).toMatchObject({ status: 503, headers: { [HEADERS.error]: 'origin-bad-answer' } });
    expect(overlay.originRequests.length - before).toBe(1);
    // No depot is told of as one that has failed.
    expect(overlay.depot('d1').events.filter(({ type }) => type === 'chain-failed')).toEqual([]);
    expect(hash((await fetchRaw(url)).body)).toBe(hash(file));
  });

  describe.each([
    ['403', 403],
    ['451', 451],
  ])('an origin that refuses depots with %s', (_name, refusal) => {
    /** By the mark that depots leave. */
    const isOfDepot = ({ headers }: IncomingMessage) => headers.via !== undefined;
    const refuse = (answer: ServerResponse) =>
      answer.writeHead(refusal, { 'Content-Length': 7 }).end('go home');

    beforeEach(() => {
      origin = (asked, answer) => {
        if (isOfDepot(asked)) refuse(answer);
        else if (asked.url === '/file.bin?a=1&b=%2F') sendAsAsked(asked, answer);
        else answer.writeHead(404).end();
      };
    });

    const sendAsAsked = (asked: IncomingMessage, answer: ServerResponse) => {
      if (asked.headers.range !== undefined) return sendPart(asked, answer);
      return answer.writeHead(200, { ...VERSION, 'Content-Length': file.length }).end(file);
    };
    const url = () => `${overlay.originUrl}/file.bin?a=1&b=%2F`;
    const ask = (claims: object, init = {}) => fetchRaw(overlay.relayUrl(url(), claims), init);

    test.each([
      ['a chain', { chains: [['d1', 'd2']] }],
      ['one depot', { chains: [['d1']] }],
      ['lanes', { chains: [['d1', 'd2']], lanes: 4 }],
      ['lanes of one depot', { chains: [['d1']], lanes: 4 }],
    ])('has its clients led to it over %s, and they get the file', async (_way, claims) => {
      for (const headers of [{}, { range: 'bytes=900000-' }, { range: 'bytes=0-9' }] as Record<
        string,
        string
      >[]) {
        const led = await ask(claims, { headers });
        expect(led).toMatchObject({ status: 307, broken: undefined, body: Buffer.alloc(0) });
        expect(led.headers).toMatchObject({
          location: url(),
          'cache-control': expect.stringContaining('no-store'),
          [HEADERS.depot]: 'd1',
          [HEADERS.job]: expect.any(String),
        });
        expect(led.headers['referrer-policy'], "the page's own policy holds for the origin").toBeUndefined();
        const direct = await fetchRaw(url(), { headers });
        expect(direct.status).toBe(headers['range'] ? 206 : 200);
      }
      const head = await ask(claims, { method: 'HEAD' });
      expect(head).toMatchObject({ status: 307, headers: { location: url() } });
      await expect.poll(() => overlay.originOpenConnections()).toBe(0);
    });

    test('has programs of before led as they know it', async () => {
      const led = await ask({}, { headers: { 'User-Agent': 'Wget' } });
      expect(led).toMatchObject({ status: 302, headers: { location: url() } });
    });

    test('has browsers led past the add-on, and nobody else: other programs may ask for the fragment, too', async () => {
      for (const [program, location] of [
        ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', `${url()}#lh-direct`],
        ['Mozilla/4.5 (compatible; HTTrack 3.0x; Windows 98)', url()],
        ['Axel/2.17.11 (Linux)', url()],
        ['uclient-fetch', url()],
      ] as const) {
        const led = await ask({}, { headers: { 'User-Agent': program } });
        expect(led, program).toMatchObject({ status: 307, headers: { location } });
      }
    });

    test('has them led to where it began, and not to what it redirects to', async () => {
      origin = (asked, answer) => {
        if (asked.url?.startsWith('/signed') === true) refuse(answer);
        else answer.writeHead(302, { Location: '/signed-for-a-depot', 'Content-Length': 0 }).end();
      };
      const { status, headers } = await ask({});
      expect({ status, location: headers.location }).toEqual({ status: 307, location: url() });
    });

    test('has nobody led elsewhere who has got something of it', async () => {
      const serving = origin;
      origin = sendAsAsked;
      const address = overlay.relayUrl(url());
      expect((await fetchRaw(address)).status).toBe(200);
      origin = serving;
      for (const headers of [{}, { range: 'bytes=900000-' }] as Record<string, string>[]) {
        const again = await fetchRaw(address, { headers });
        expect(again).toMatchObject({ status: 503, headers: { [HEADERS.error]: 'origin-unavailable' } });
      }
    });

    test('has those led to it who have asked for nothing but a head before', async () => {
      const serving = origin;
      origin = sendAsAsked;
      const address = overlay.relayUrl(url());
      expect((await fetchRaw(address, { method: 'HEAD' })).status).toBe(200);
      origin = serving;
      expect((await fetchRaw(address)).status).toBe(307);
    });

    test('in the middle of a file ends it as any other refusal does', async () => {
      let requests = 0;
      origin = (_asked, answer) => {
        requests += 1;
        if (requests > 1) return refuse(answer);
        answer.writeHead(200, { ...VERSION, 'Content-Length': file.length });
        answer.write(file.subarray(0, 600_000), () => answer.socket?.resetAndDestroy());
        return undefined;
      };
      const { status, body, broken } = await ask({});
      expect({ status, broken }).toEqual({ status: 200, broken: 'ECONNRESET' });
      expect(hash(body)).toBe(hash(file.subarray(0, body.length)));
    });
  });

  test.each([400, 404, 405, 410, 500])(
    "an origin's %i is for its client, whom it would answer so as well",
    async (status) => {
      origin = (_asked, answer) => {
        answer.writeHead(status, { 'Content-Length': 2 }).end('no');
      };
      const answer = await download();
      expect(answer).toMatchObject({ status, broken: undefined });
      expect(answer.headers.location).toBeUndefined();
      expect(String(answer.body)).toBe('no');
    },
  );

  test.each([
    [202, {}],
    [406, {}],
    [429, {}],
    [503, {}],
    [202, { 'x-amzn-waf-action': 'challenge' }],
    [405, { 'x-amzn-waf-action': 'captcha' }],
  ])(
    "an origin's %i (%j) may be for a depot of whom many ask: who names no version is led to the origin, who does is told it",
    async (status, said) => {
      origin = (_asked, answer) => {
        answer.writeHead(status, { ...said, 'Content-Length': 2, 'Retry-After': '7' }).end('no');
      };
      for (const [range, lanes] of [
        [undefined],
        [undefined, 4],
        ['bytes=0-'],
        ...PARTS.map((part) => [part] as const),
      ] as const) {
        const led = await download(lanes ? { lanes } : {}, range === undefined ? {} : { range });
        expect(led, range).toMatchObject({
          status: 307,
          headers: { location: `${overlay.originUrl}/file.bin` },
        });
        expect(led.headers['retry-after']).toBeUndefined();
      }
      for (const named of [{ 'if-range': '"v1"' }, { 'if-match': '"v1"' }, { [HEADERS.probe]: '1' }]) {
        const told = await download({}, { range: 'bytes=0-0', ...named });
        expect(told).toMatchObject({ status, headers: { 'retry-after': '7' } });
        expect(told.headers.location).toBeUndefined();
      }
    },
  );

  test.each([
    [429, '60', '60'],
    [503, '60', '60'],
    [503, 'Tue, 01 Jan 2030 00:02:00 GMT', '120'],
    [503, '1', '5'],
    [503, '999999999', '3600'],
    [429, undefined, '5'],
  ])(
    'who goes on with a file and meets a %i that asks for patience (%s) is told to come back after %s s',
    async (status, asked, told) => {
      const address = overlay.relayUrl(`${overlay.originUrl}/file.bin`);
      origin = (_asked, answer) => {
        answer.writeHead(200, { ...VERSION, 'Content-Length': file.length }).end(file);
      };
      expect((await fetchRaw(address)).status).toBe(200);
      origin = (_asked, answer) => {
        answer.setHeader('Date', 'Tue, 01 Jan 2030 00:00:00 GMT');
        if (asked !== undefined) answer.setHeader('Retry-After', asked);
        answer.writeHead(status, { 'Content-Length': 2 }).end('no');
      };
      expect(await fetchRaw(address, { headers: { range: 'bytes=1000-' } })).toMatchObject({
        status: 503,
        headers: { [HEADERS.error]: 'origin-unavailable', 'retry-after': told },
      });
    },
  );

  test.each([204, 400, 403, 404, 410, 429, 451, 500])(
    'who goes on with a version at a depot that knows nothing of it, and meets a %i, is told to come back: browsers would drop what they have',
    async (status) => {
      origin = (_asked, answer) => {
        answer.writeHead(status, status === 204 ? {} : { 'Content-Length': 2 }).end('no');
      };
      for (const version of [
        { 'if-range': '"v1"' },
        { 'if-match': '"v1"' },
        { 'if-unmodified-since': 'Tue, 01 Jan 2019 00:00:00 GMT' },
      ] as Record<string, string>[]) {
        const told = await download({}, { range: 'bytes=1000-', ...version });
        expect(told).toMatchObject({ status: 503, headers: { [HEADERS.error]: 'origin-unavailable' } });
        expect(told.headers.location).toBeUndefined();
      }
    },
  );

  describe.each([
    [429, 1],
    [503, 4],
  ])('an origin that answers one exit with %i, by a plan of %i lanes,', (status, lanes) => {
    const goOn = () => download({ lanes }, { range: 'bytes=1000-', 'if-range': '"v1"' });
    let requests: number;

    beforeEach(() => {
      requests = 0;
    });

    /** Is busy for so many questions. */
    const busyFor = (most: number) => {
      origin = (asked, answer) => {
        requests += 1;
        if (requests > most) return sendPart(asked, answer);
        const wait = { 'Retry-After': String(60 * requests) };
        return answer.writeHead(status, { ...wait, 'Content-Length': 2 }).end('no');
      };
    };

    test('gives what a client goes on with over another one', async () => {
      busyFor(1);
      const { status: given, body, broken } = await goOn();
      expect({ given, broken }).toEqual({ given: 206, broken: undefined });
      expect(hash(body)).toBe(hash(file.subarray(1000)));
    });

    test('is asked once over each, and its first answer told', async () => {
      busyFor(Number.POSITIVE_INFINITY);
      expect(await goOn()).toMatchObject({ status: 503, headers: { 'retry-after': '60' } });
      expect(requests).toBe(2);
    });
  });

  describe('a page that somebody goes to', () => {
    const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const GOING = { ...BROWSER, 'sec-fetch-mode': 'navigate' };
    const page =
      (headers: Record<string, string> = {}): RequestListener =>
      (_asked, answer) => {
        answer
          .writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...headers })
          .end('<p>Choose a mirror</p>');
      };

    test.each([
      ['by a browser of today', GOING],
      ['by one of before', BROWSER],
    ])('is shown by the origin, where it means it to be read: %s', async (_, headers) => {
      origin = page();
      const led = await download({}, headers);
      expect(led).toMatchObject({
        status: 307,
        headers: { location: `${overlay.originUrl}/file.bin` },
      });
      origin = page({ 'Content-Disposition': 'attachment; filename=saved.html' });
      expect((await download({}, headers)).status).toBe(200);
    });

    test('is shown by the origin also where a depot asks for blocks', async () => {
      origin = (asked, answer) => {
        answer.setHeader('Content-Type', 'text/html');
        if (asked.headers.range !== undefined) return sendPart(asked, answer);
        return answer.writeHead(200, { ...VERSION, 'Content-Length': file.length }).end(file);
      };
      expect((await download({ lanes: 4 })).status).toBe(200);
      expect((await download({ lanes: 4 }, GOING)).status).toBe(307);
    });

    test('is shown at the place in it where a browser goes, where no rule of the add-on could lead that back', async () => {
      const firefox = {
        ...GOING,
        'accept-encoding': 'gzip, deflate, br',
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      };
      const ledTo = async (path: string) => {
        const url = `${overlay.originUrl}${path}`;
        const { headers } = await fetchRaw(overlay.relayUrl(url), { headers: firefox });
        return headers.location?.slice(url.length);
      };
      origin = page();
      for (const path of [
        '/',
        '/mirrors',
        '/v1.2/',
        '/a.iso/download?f=b.iso',
        '/get.php?f=a.iso',
        '/a.b.html',
      ])
        expect(await ledTo(path), path).toBe('');
      for (const path of ['/a.iso', '/a.tar.gz?x=1', '/v1.2', '/a.PHP.zip'])
        expect(await ledTo(path), path).toBe('#lh-direct');
      origin = (_asked, answer) => {
        answer.writeHead(401, { 'Content-Type': 'text/html' }).end('<p>Log in</p>');
      };
      expect(await ledTo('/mirrors'), 'what failed may be a file').toBe('#lh-direct');
      for (const status of [403, 404, 429, 503]) {
        origin = (_asked, answer) => {
          answer.writeHead(status, { 'Content-Type': 'text/html' }).end('<p>Not for you</p>');
        };
        expect(await ledTo(`/get.php?f=${status}`), `${status}: for others it may be a file`).toBe(
          '#lh-direct',
        );
      }
      origin = (_asked, answer) => {
        answer
          .writeHead(200, { 'Content-Type': 'text/csv', Vary: 'Accept-Encoding', 'Content-Length': 2e6 })
          .end(Buffer.alloc(2e6));
      };
      expect(await ledTo('/get.php?f=a.csv'), 'a file that may come compressed').toBe('#lh-direct');
    });

    test.each([404, 410, 500])('is shown by the origin also where it has the status %i', async (status) => {
      origin = (_asked, answer) => {
        answer.writeHead(status, { 'Content-Type': 'text/html' }).end('<p>Log in to see this</p>');
      };
      expect(await download({}, GOING)).toMatchObject({
        status: 307,
        headers: { location: `${overlay.originUrl}/file.bin` },
      });
      for (const headers of [{}, { ...GOING, range: 'bytes=7-' }] as Record<string, string>[])
        expect((await download({}, headers)).status).toBe(status);
    });

    test('is a file like others for programs, and for what a page fetches', async () => {
      origin = page();
      for (const headers of [{}, { accept: '*/*' }, { ...BROWSER, 'sec-fetch-mode': 'cors' }] as Record<
        string,
        string
      >[]) {
        const { status, body } = await download({}, headers);
        expect({ status, body: String(body) }).toEqual({ status: 200, body: '<p>Choose a mirror</p>' });
      }
    });
  });

  describe('text that its origin compresses for who takes that', () => {
    const BROWSER = { 'accept-encoding': 'gzip, deflate, br, zstd' };
    const TEXT = { 'Content-Type': 'text/csv; charset=utf-8', Vary: 'Origin, Accept-Encoding', ...VERSION };
    const text =
      (said: Record<string, string> = {}, body = file): RequestListener =>
      (asked, answer) => {
        for (const [name, value] of Object.entries({ ...TEXT, ...said })) answer.setHeader(name, value);
        // As with nginx, parts do not say that the whole would be compressed.
        if (asked.headers.range !== undefined) answer.removeHeader('Vary');
        if (asked.headers.range !== undefined) return sendPart(asked, answer);
        return answer.writeHead(200, { 'Content-Length': body.length }).end(body);
      };

    test.each([
      ['over one connection', 1],
      ['over lanes', 4],
    ])('is asked for by its client %s', async (_, lanes) => {
      for (const type of [
        'text/plain',
        'application/json',
        'application/geo+json; charset=utf-8',
        'application/x-ndjson',
        'image/svg+xml',
        'application/javascript',
        'application/sql',
      ]) {
        origin = text({ 'Content-Type': type });
        // Of a folder that is known to give blocks only one is asked for at first.
        const url = `${overlay.originUrl}/texts/file.bin`;
        const led = await fetchRaw(overlay.relayUrl(url, { lanes }), { headers: BROWSER });
        expect(led, type).toMatchObject({ status: 307, headers: { location: url } });
      }
    });

    test.each<[string, Record<string, string>, Record<string, string>]>([
      ['to who takes no compression', {}, {}],
      ['to who wants none', {}, { 'accept-encoding': 'gzip;q=0, identity' }],
      ['to who goes on', {}, { ...BROWSER, range: 'bytes=1-' }],
      ['where it is compressed already', { 'Content-Encoding': 'gzip' }, BROWSER],
      ['where all get the same', { Vary: 'Origin' }, BROWSER],
      ['where it is no text', { 'Content-Type': 'application/zip' }, BROWSER],
      ['where its type is only called alike', { 'Content-Type': 'application/vnd.ms-sqlite3' }, BROWSER],
    ])('comes through depots %s', async (_, said, asked) => {
      origin = text(said);
      const { status, broken } = await download({}, asked);
      expect({ status, broken }).toEqual({ status: 'range' in asked ? 206 : 200, broken: undefined });
    });

    test.each([
      ['text', {}],
      [
        'anything, in a storage that has it compressed',
        { 'Content-Type': 'application/x-tar', Vary: '', 'X-Goog-Stored-Content-Encoding': 'gzip' },
      ],
    ])('is asked for by its client also where nobody knows its length: %s', async (_, said) => {
      origin = (_asked, answer) => {
        answer.writeHead(200, { ...TEXT, ...said });
        // In chunks.
        answer.write(file.subarray(0, 1000));
        answer.end(file.subarray(1000));
      };
      for (const lanes of [1, 4]) {
        const url = `${overlay.originUrl}/made/file.bin`;
        const ask = (init = {}) => fetchRaw(overlay.relayUrl(url, { lanes }), init);
        const led = await ask({ headers: BROWSER });
        expect(led).toMatchObject({ status: 307, headers: { location: url } });
        expect(await ask({ headers: BROWSER, method: 'HEAD' }), 'its head').toMatchObject({ status: 200 });
        expect(hash((await ask()).body), 'for who takes no compression').toBe(hash(file));
      }
    });

    test('comes through depots where it is short, and to who has got something of it', async () => {
      origin = text({}, file.subarray(0, 900_000));
      expect((await download({}, BROWSER)).status).toBe(200);
      origin = text();
      const address = overlay.relayUrl(`${overlay.originUrl}/file.bin`);
      expect((await fetchRaw(address)).status).toBe(200);
      expect((await fetchRaw(address, { headers: BROWSER })).status).toBe(200);
    });
  });

  test('a login is for who names no version to give to the origin, and for nobody else', async () => {
    origin = (_asked, answer) => {
      answer.writeHead(401, { 'WWW-Authenticate': 'Basic realm=x', 'Content-Length': 0 }).end();
    };
    // Who asks for parts, to see whether there are any or to go on with what no version is known of, has
    // nothing that a redirect would take.
    for (const range of [undefined, ...PARTS]) {
      const led = await download({}, range === undefined ? {} : { range });
      expect(led, range).toMatchObject({ status: 307, headers: { [HEADERS.error]: 'origin-needs-login' } });
      expect(led.headers['www-authenticate']).toBeUndefined();
    }
    for (const [status, asked] of [
      [503, { range: 'bytes=7-', 'if-range': '"v1"' }],
      [503, { range: 'bytes=7-', 'if-match': '"v1"' }],
      [403, { range: 'bytes=0-0', [HEADERS.probe]: '1' }],
    ] as const) {
      const refused = await download({}, asked);
      expect(refused).toMatchObject({ status, headers: { [HEADERS.error]: 'origin-needs-login' } });
      expect(refused.headers.location).toBeUndefined();
    }
  });

  test.each([
    ['one byte', 'bytes=0-0', 307],
    ['two', 'bytes=0-1', 307],
    ['three', 'bytes=0-2', 503],
  ])(
    'a client that has got %s as a trial (%s), and then asks for the whole of an origin that gives depots no more, is answered %i',
    async (_what, range, status) => {
      origin = sendPart;
      const address = overlay.relayUrl(`${overlay.originUrl}/file.bin`);
      expect((await fetchRaw(address, { headers: { range } })).status).toBe(206);
      origin = (_asked, answer) => {
        answer.writeHead(403, { 'Content-Length': 0 }).end();
      };
      expect((await fetchRaw(address)).status).toBe(status);
    },
  );

  test('who goes on with a file at an address that has given something of it is led nowhere, whatever he names', async () => {
    origin = sendPart;
    const address = overlay.relayUrl(`${overlay.originUrl}/file.bin`);
    expect((await fetchRaw(address, { headers: { range: 'bytes=0-999' } })).status).toBe(206);
    for (const status of [401, 403, 429, 503]) {
      origin = (_asked, answer) => {
        answer.writeHead(status, { 'Content-Length': 0 }).end();
      };
      for (const range of PARTS) expect((await fetchRaw(address, { headers: { range } })).status).toBe(503);
    }
  });

  test.each([404, 410, 429, 503])(
    'an origin that refuses a file with %i is not asked twice for it',
    async (status) => {
      let requests = 0;
      origin = (_asked, answer) => {
        requests += 1;
        answer.writeHead(status, { 'Content-Length': 0 }).end();
      };
      expect((await download({ lanes: 4 })).status).toBe(status === 404 || status === 410 ? status : 307);
      expect(requests).toBe(1);
    },
  );

  test.each([
    ['gives all of it', 200, VERSION],
    ['names no version of others', 206, { 'Accept-Ranges': 'bytes' }],
    ['refuses others', 403, undefined],
    ['knows of no others', 416, undefined],
  ])(
    'a file comes whole by the version that was begun where the origin, after the first part, %s',
    async (_, status, headers) => {
      origin = (asked, answer) => {
        const [, first, last] = /^bytes=([0-9]+)-([0-9]*)$/.exec(asked.headers.range ?? '') ?? [];
        const from = Number(first ?? 0);
        const to = last ? Math.min(Number(last) + 1, file.length) : file.length;
        const range = { 'Content-Range': `bytes ${from}-${to - 1}/${file.length}` };
        if (first === undefined)
          answer.writeHead(200, { ...VERSION, 'Content-Length': file.length }).end(file);
        else if (from === 0)
          answer.writeHead(206, { ...VERSION, ...range, 'Content-Length': to }).end(file.subarray(0, to));
        else if (!headers) answer.writeHead(status, { 'Content-Length': 0 }).end();
        else if (status === 200)
          answer.writeHead(200, { ...headers, 'Content-Length': file.length }).end(file);
        else
          answer
            .writeHead(206, { ...headers, ...range, 'Content-Length': to - from })
            .end(file.subarray(from, to));
      };
      for (const range of ['bytes=0-', undefined]) {
        const { body, broken } = await download({ lanes: 4 }, range === undefined ? {} : { range });
        expect({ broken, bytes: body.length }).toEqual({ broken: undefined, bytes: file.length });
        expect(hash(body)).toBe(hash(file));
      }
    },
  );

  test('an answer without a body has no length that a client would wait for', async () => {
    origin = (_asked, answer) => {
      answer.socket?.end('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n');
    };
    const { status, headers } = await download();
    expect({ status, length: headers['content-length'] }).toEqual({ status: 204, length: undefined });
  });

  test.each([
    [
      'by its length',
      (answer: ServerResponse) => answer.writeHead(200, { 'Content-Length': 5 }).write('hello'),
    ],
    ['in chunks', (answer: ServerResponse) => answer.end('hello')],
    [
      'by its length, past the process',
      (answer: ServerResponse) => answer.writeHead(200, { 'Content-Length': file.length }).write(file),
    ],
  ])('a finished download keeps no chain to an origin that keeps its connections: %s', async (_, send) => {
    origin = (_asked, answer) => {
      answer.shouldKeepAlive = true;
      send(answer);
    };
    expect((await download()).broken).toBeUndefined();
    await expect.poll(() => overlay.originOpenConnections()).toBe(0);
    const isOver = () => overlay.depot('d2').events.some(({ type }) => type === 'tunnel');
    await expect.poll(isOver).toBe(true);
  });

  test('a way that stood and breaks before the head of the answer is replaced like any other', async () => {
    let requests = 0;
    origin = (_asked, answer) => {
      requests += 1;
      if (requests === 1) answer.socket?.resetAndDestroy();
      else answer.writeHead(200, { ...VERSION, 'Content-Length': file.length }).end(file);
    };
    const { status, body } = await download();
    expect(status).toBe(200);
    expect(hash(body)).toBe(hash(file));
  });
});
