import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exchangeText, fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const file = randomBytes(3_000_000);
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

const origin: RequestListener = (request, response) => {
  const path = request.url ?? '';
  const range = /^bytes=([0-9]+)-([0-9]*)$/.exec(request.headers.range ?? '');
  if (path.startsWith('/open')) {
    const toAll = path.startsWith('/open-twice') ? ['*', '*'] : '*';
    response.setHeader('Access-Control-Allow-Origin', toAll);
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  }
  if (path.startsWith('/chunked')) {
    response.writeHead(200, { 'Content-Type': 'application/x-thing' });
    response.write(file.subarray(0, 1_000_000));
    response.end(file.subarray(1_000_000));
  } else if (path.startsWith('/unknown-length')) {
    request.socket.end(Buffer.concat([Buffer.from('HTTP/1.0 200 OK\r\nX-Secret: 1\r\n\r\n'), file]));
  } else if (path.startsWith('/cut')) {
    response.writeHead(200, { 'Content-Length': file.length });
    response.write(file.subarray(0, 1_500_000), () => response.socket?.resetAndDestroy());
  } else if (path.startsWith('/headers')) {
    response.writeHead(200, {
      'Content-Length': 2,
      'Content-Type': 'text/html',
      'Content-Disposition': "inline; filename*=UTF-8''na%C3%AFve.html",
      ETag: 'W/"v1"',
      'Repr-Digest': 'sha-256=:abc:',
      Date: 'Tue, 01 Jan 2030 00:00:00 GMT',
      'Set-Cookie': 'a=b',
      'Strict-Transport-Security': 'max-age=1',
      'Access-Control-Allow-Origin': 'https://page.example',
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Expose-Headers': 'ETag',
      'Cross-Origin-Resource-Policy': 'same-site',
      'Timing-Allow-Origin': '*',
      'Alt-Svc': 'h3=":443"',
      Refresh: '0; url=/x',
    });
    response.end('ok');
  } else if (path.startsWith('/missing')) {
    response.writeHead(404, { 'Content-Type': 'text/html' }).end('<script>alert(1)</script>');
  } else if (path.startsWith('/login')) {
    response
      .writeHead(401, { 'WWW-Authenticate': 'Basic', 'Access-Control-Allow-Origin': '*' })
      .end('who are you');
  } else if (range) {
    const start = Number(range[1]);
    const end = range[2] ? Number(range[2]) : file.length - 1;
    response.writeHead(206, {
      'Content-Range': `bytes ${start}-${end}/${file.length}`,
      'Content-Length': end - start + 1,
      ETag: '"v1"',
      'Accept-Ranges': 'bytes',
    });
    response.end(file.subarray(start, end + 1));
  } else {
    response.writeHead(200, { 'Content-Length': file.length, ETag: '"v1"' });
    response.end(request.method === 'HEAD' ? undefined : file);
  }
};

describe.each(await testPlanes())('with a relay of %s,', (kind, splice) => {
  let overlay: TestOverlay;
  const lastRequest = () => overlay.originRequests.at(-1) as IncomingMessage;

  beforeAll(async () => {
    overlay = await startTestOverlay(['d1', 'd2', 'd3'], origin, splice);
  });
  afterAll(() => overlay.close());

  /** Waits until the depot has reported an event of this kind for the transfer just made. */
  async function eventOf(id: string, type: string) {
    const { events } = overlay.depot(id);
    await expect.poll(() => events.some((event) => event.type === type)).toBe(true);
    return events.findLast((event) => event.type === type);
  }

  describe('a download through depots', () => {
    beforeEach(() => {
      for (const id of ['d1', 'd2', 'd3']) overlay.depot(id).events.length = 0;
    });

    test.each([[['d1']], [['d1', 'd2']], [['d1', 'd2', 'd3']]])(
      'through %j is byte-identical',
      async (chain) => {
        const answer = await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file.bin`, { chains: [chain] }));
        expect(answer).toMatchObject({ status: 200, broken: undefined });
        expect(digest(answer.body)).toBe(digest(file));
        expect(await eventOf('d1', 'transfer')).toMatchObject({
          bodyBytes: file.length,
          chain,
          outcome: 'complete',
        });
        for (const id of chain.slice(1)) {
          const event = await eventOf(id, 'tunnel');
          expect(event).toMatchObject({ role: id === chain.at(-1) ? 'exit' : 'middle', outcome: 'complete' });
          expect(event?.type === 'tunnel' && event.bytesDown).toBeGreaterThan(file.length);
          expect(await eventOf(id, 'flow')).toMatchObject({ plane: kind });
        }
      },
    );

    test('leaves its connection as it was: the next request, even one that came early, is served', async () => {
      const target = (name: string) => {
        const { pathname, search } = new URL(overlay.relayUrl(`${overlay.originUrl}/${name}`));
        return pathname + search;
      };
      const heads = ['one.bin', 'two.bin', 'three.bin'].map(
        (name, index) =>
          `GET ${target(name)} HTTP/1.1\r\nHost: d1\r\nConnection: ${index < 2 ? 'keep-alive' : 'close'}\r\n\r\n`,
      );
      const answers = Buffer.from(await exchangeText(overlay.depot('d1').url, heads.join('')), 'latin1');
      let rest = answers;
      for (const _ of heads) {
        expect(rest.subarray(0, 15).toString()).toBe('HTTP/1.1 200 OK');
        const start = rest.indexOf('\r\n\r\n') + 4;
        expect(digest(rest.subarray(start, start + file.length))).toBe(digest(file));
        rest = rest.subarray(start + file.length);
      }
      expect(rest).toHaveLength(0);
    });

    test('carries the target to the origin byte by byte', async () => {
      const target = '/a//b/..%2F%00;x=1?c=%2F&d=http://z/?q=1&&=';
      await fetchRaw(overlay.relayUrl(overlay.originUrl + target));
      expect(lastRequest().url).toBe(target);
    });

    test('answers ranges, HEAD and conditions as the origin does', async () => {
      const url = `${overlay.originUrl}/file.bin`;
      const part = await fetchRaw(overlay.relayUrl(url), {
        headers: { Range: 'bytes=100-299', 'If-Range': '"v1"' },
      });
      expect(part.status).toBe(206);
      expect(part.headers).toMatchObject({ 'content-range': `bytes 100-299/${file.length}`, etag: '"v1"' });
      expect(part.body).toEqual(file.subarray(100, 300));
      expect(lastRequest().headers['if-range']).toBe('"v1"');
      const head = await fetchRaw(overlay.relayUrl(url), { method: 'HEAD' });
      expect(head).toMatchObject({ status: 200, headers: { 'content-length': String(file.length) } });
      expect(head.body.length).toBe(0);
    });

    test.each(['/chunked', '/unknown-length'])(
      'of a body %s arrives whole, with no length invented',
      async (path) => {
        const answer = await fetchRaw(overlay.relayUrl(overlay.originUrl + path));
        expect(answer.broken).toBeUndefined();
        expect(digest(answer.body)).toBe(digest(file));
        expect(answer.headers['content-length']).toBeUndefined();
        expect(answer.headers['accept-ranges']).toBeUndefined();
      },
    );

    test('passes on what describes the content and nothing that could act in the name of the depot', async () => {
      const { headers } = await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/headers`));
      expect(headers).toMatchObject({
        'content-type': 'text/html',
        etag: 'W/"v1"',
        'repr-digest': 'sha-256=:abc:',
        date: 'Tue, 01 Jan 2030 00:00:00 GMT',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'referrer-policy': 'no-referrer',
        'longhaul-depot': 'd1',
      });
      expect(headers['content-disposition']).toMatch(/^attachment; .*filename\*=UTF-8''na%C3%AFve\.html$/);
      for (const name of [
        'set-cookie',
        'strict-transport-security',
        'access-control-allow-origin',
        'access-control-allow-credentials',
        'access-control-expose-headers',
        'cross-origin-resource-policy',
        'timing-allow-origin',
        'alt-svc',
        'refresh',
      ]) {
        expect(headers[name], name).toBeUndefined();
      }
    });

    test.each([1, 4])(
      'is open to scripts of other sites where its origin opens it to all (%i lanes)',
      async (lanes) => {
        const ask = (path: string) =>
          fetchRaw(overlay.relayUrl(overlay.originUrl + path, { chains: [['d1', 'd2']], lanes }));
        const open = await ask('/open/file.bin');
        expect(open).toMatchObject({
          status: 200,
          headers: { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' },
        });
        expect(digest(open.body)).toBe(digest(file));
        // Browsers take two values for none.
        expect((await ask('/open-twice.bin')).headers['access-control-allow-origin']).toBeUndefined();
      },
    );

    test('can be read by no script where a depot refuses it, and is led on by scripts where it leads', async () => {
      const url = overlay.relayUrl(`${overlay.originUrl}/login`);
      const led = await fetchRaw(url);
      expect(led).toMatchObject({
        status: 307,
        headers: { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' },
      });
      const refused = await fetchRaw(url, { headers: { Range: 'bytes=7-', 'If-Range': '"v1"' } });
      const others = ['/healthz', '/healthz/ready', '/metrics', '/?a.b.c&server=x&port=1&scheme=http'];
      const preflight = await fetchRaw(url, {
        method: 'OPTIONS',
        headers: { Origin: 'http://page.example' },
      });
      expect([refused.status, preflight.status]).toEqual([503, 405]);
      for (const path of others) {
        const answer = await fetchRaw(overlay.depot('d1').url + path);
        expect(answer.headers['access-control-allow-origin'], path).toBeUndefined();
      }
      for (const { headers } of [refused, preflight])
        expect(headers['access-control-allow-origin']).toBeUndefined();
    });

    test('shows the origin nothing of the client but what the download needs', async () => {
      await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file.bin`), {
        method: 'HEAD',
        headers: {
          Cookie: 'a=b',
          Authorization: 'Basic x',
          Referer: 'http://page/',
          Origin: 'http://page',
          'X-Forwarded-For': '1.2.3.4',
          'Accept-Encoding': 'gzip',
          'User-Agent': 'curl/8',
          'If-None-Match': '"v0"',
        },
      });
      expect(lastRequest().headers).toEqual({
        host: overlay.originUrl.slice('http://'.length),
        'user-agent': 'curl/8',
        'if-none-match': '"v0"',
        'accept-encoding': 'identity',
        via: '1.1 longhaul-d1',
        connection: 'close',
      });
    });

    test('that breaks off at the origin resets the client: the short file never looks whole', async () => {
      const answer = await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/cut`));
      expect(answer.broken).toBe('ECONNRESET');
      expect(await eventOf('d1', 'transfer')).toMatchObject({ outcome: 'upstream-broke' });
    });

    test('gives errors of the origin as text with their status', async () => {
      const answer = await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/missing`));
      expect(answer).toMatchObject({ status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } });
    });

    test('never carries a login: who begins is led to the origin that asks for one, who goes on with a version is refused, by its code', async () => {
      const url = overlay.relayUrl(`${overlay.originUrl}/login`);
      expect(await fetchRaw(url)).toMatchObject({
        status: 307,
        headers: { 'longhaul-error': 'origin-needs-login', location: `${overlay.originUrl}/login` },
      });
      const answer = await fetchRaw(url, { headers: { Range: 'bytes=7-', 'If-Range': '"v1"' } });
      expect(answer).toMatchObject({ status: 503, headers: { 'longhaul-error': 'origin-needs-login' } });
      expect(answer.headers['www-authenticate']).toBeUndefined();
    });

    test('is not served as a service worker', async () => {
      const headers = { 'Service-Worker': 'script' };
      const answer = await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file.bin`), { headers });
      expect(answer.headers['longhaul-error']).toBe('worker-script-refused');
    });

    test('takes an alternative chain when a depot of the plan is not there', async () => {
      const chains = [
        ['d1', 'gone', 'd3'],
        ['d1', 'd3'],
      ];
      const answer = await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file.bin`, { chains }));
      expect(digest(answer.body)).toBe(digest(file));
      expect(await eventOf('d1', 'chain-failed')).toMatchObject({
        code: 'next-depot-unknown',
        depot: 'gone',
      });
      expect(await eventOf('d1', 'transfer')).toMatchObject({ chain: ['d1', 'd3'] });
    });

    test('goes by its plan of one depot, whatever alternatives there are', async () => {
      const chains = [['d1'], ['d1', 'd2']];
      const { events } = overlay.depot('d1');
      events.length = 0;
      const { body } = await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file`, { chains }));
      // `toEqual` looks at each byte by itself: seconds for these.
      expect(body.equals(file)).toBe(true);
      expect(await eventOf('d1', 'transfer')).toMatchObject({ chain: ['d1'] });
    });

    test('tells the master how large the object is, and how far its depots are apart', async () => {
      await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/sized.bin`));
      await overlay.depot('d1').depot.close(0);
      const beats = overlay.master.requests.filter((entry) => entry.path === '/v1/depots/d1/heartbeat');
      expect(beats.at(-1)?.body).toMatchObject({ draining: true });
      // A busy machine may have told of some of it in the beat before.
      const told = beats.flatMap(({ body }) => {
        const { sizes, links } = body as { sizes: unknown[]; links: unknown[] };
        return [...sizes, ...links];
      });
      expect(told).toContainEqual(expect.objectContaining({ sizeBytes: file.length }));
      expect(told).toContainEqual(expect.objectContaining({ to: 'd2', rttMs: expect.any(Number) }));
      await overlay.addDepot('d1');
    });
  });
});
