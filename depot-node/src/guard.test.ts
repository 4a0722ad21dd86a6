import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { HEADERS } from '@longhaul/shared';
import { selfSigned } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listen } from './sockets/listener.ts';
import { exchangeText, fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { closeServer } from './testing/test-master.ts';

const MINUTE = 60;

let overlay: TestOverlay;
beforeEach(async () => {
  overlay = await startTestOverlay(['d1', 'd2'], (request, response) => {
    const { url = '' } = request;
    const location = /^\/to\?(.*)$/.exec(url)?.[1];
    const [, status, where] = /^\/as\/([0-9]+)\?(.*)$/.exec(url) ?? [];
    if (location !== undefined) response.writeHead(302, { Location: location }).end();
    else if (status !== undefined)
      response
        .writeHead(Number(status), where ? { Location: where, 'Content-Length': 4 } : { 'Content-Length': 4 })
        .end('list');
    else if (url === '/loop') response.writeHead(301, { Location: '/loop', 'Set-Cookie': 'been=here' }).end();
    else if (url === '/back') response.writeHead(302, { Location: '/to?/back' }).end();
    else if (url.startsWith('/next?'))
      response.writeHead(302, { Location: `/next?${Number(url.slice(6)) + 1}` }).end();
    else response.writeHead(200, { 'Content-Length': 5 }).end('hello');
  });
});
afterEach(() => overlay.close());

const file = () => `${overlay.originUrl}/file.bin`;

async function refusalOf(url: string, headers: Record<string, string> = {}) {
  const answer = await fetchRaw(url, { headers });
  return [answer.status, answer.headers[HEADERS.error]];
}

describe('no connection is made to the origin for', () => {
  afterEach(() => expect(overlay.originConnections()).toBe(0));

  test('a request without a ticket', async () => {
    expect(await refusalOf(`${overlay.depot('d1').url}/file.bin`)).toEqual([404, 'not-a-relay-request']);
    expect(await refusalOf(`${overlay.depot('d1').url}/x?server=a&port=80`)).toEqual([
      404,
      'not-a-relay-request',
    ]);
  });

  test('a forged ticket', async () => {
    const url = overlay.relayUrl(file());
    const at = url.indexOf('&server') - 20;
    const forged = url.slice(0, at) + (url[at] === 'A' ? 'B' : 'A') + url.slice(at + 1);
    expect(await refusalOf(forged)).toEqual([403, 'ticket-signature-wrong']);
  });

  test('a ticket of another master', async () => {
    overlay.master.rotateKey();
    // The depot asks its master once, learns the new key, and forgets the old one with it.
    const old = overlay.relayUrl(file());
    overlay.master.rotateKey();
    expect(await refusalOf(old)).toEqual([403, 'ticket-key-unknown']);
    const asked = overlay.master.requests.length;
    expect(await refusalOf(old)).toEqual([403, 'ticket-key-unknown']);
    expect(overlay.master.requests.length).toBe(asked);
  });

  test('a ticket used at another depot', async () => {
    const url = overlay.relayUrl(file(), {}, 'd1').replace(overlay.depot('d1').url, overlay.depot('d2').url);
    expect(await refusalOf(url)).toEqual([403, 'ticket-wrong-depot']);
  });

  test('a ticket used for another URL, another origin, or with other parameters', async () => {
    const url = overlay.relayUrl(file());
    expect(await refusalOf(url.replace('/file.bin', '/other.bin'))).toEqual([403, 'ticket-wrong-url']);
    expect(await refusalOf(`${url}&query=x`)).toEqual([403, 'ticket-wrong-url']);
    expect(await refusalOf(url.replace('scheme=http', 'scheme=https'))).toEqual([403, 'ticket-wrong-url']);
    expect(await refusalOf(url.replace('server=127.0.0.1', 'server=127.0.0.2'))).toEqual([
      403,
      'ticket-wrong-authority',
    ]);
    expect(await refusalOf(`${url}&server=127.0.0.1`)).toEqual([400, 'parameters-disagree']);
  });

  test('a ticket past its life, or not yet in it', async () => {
    const url = overlay.relayUrl(file());
    overlay.advanceSeconds(25 * 60 * MINUTE);
    expect(await refusalOf(url)).toEqual([403, 'ticket-expired']);
    expect(await refusalOf(url, { Range: 'bytes=1-' })).toEqual([503, 'ticket-expired']);
    overlay.advanceSeconds(-26 * 60 * MINUTE);
    expect(await refusalOf(url)).toEqual([403, 'ticket-not-yet-valid']);
  });

  test("a client's CONNECT, with a ticket for a download or none", async () => {
    const authority = overlay.originUrl.slice('http://'.length);
    const ticket = overlay.ticket(file());
    const connect = (headers: string) =>
      exchangeText(
        overlay.depot('d1').url,
        `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${headers}\r\n`,
      );
    expect(await connect('')).toMatch(/^HTTP\/1\.1 407 .*ticket-missing/s);
    expect(await connect(`Proxy-Authorization: Longhaul ${ticket}\r\n`)).toMatch(
      /^HTTP\/1\.1 403 .*ticket-wrong-kind/s,
    );
    const tunnel = overlay.ticket(file(), { kind: 'tunnel' });
    const elsewhere = `CONNECT 127.0.0.1:9 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Longhaul ${tunnel}\r\n\r\n`;
    expect(await exchangeText(overlay.depot('d1').url, elsewhere)).toMatch(
      /^HTTP\/1\.1 403 .*ticket-wrong-authority/s,
    );
  });

  test('a CONNECT that is not proved by the previous depot', async () => {
    const authority = overlay.originUrl.slice('http://'.length);
    const ticket = overlay.ticket(file());
    const connect = (proof: string) =>
      exchangeText(
        overlay.depot('d2').url,
        `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\nLonghaul-Ticket: ${ticket}\r\nLonghaul-Chain: 0\r\n` +
          `Longhaul-Proof: ${proof}\r\n\r\n`,
      );
    const signature = randomBytes(64).toString('base64url');
    expect(await connect('')).toMatch(/^HTTP\/1\.1 403 .*caller-not-proved/s);
    expect(await connect(`d1 ${Date.now()} ${signature}`)).toMatch(/caller-not-proved/);
    expect(await connect(`d2 ${Date.now()} ${signature}`)).toMatch(/caller-not-proved/);
  });

  test('an address the guard does not know', async () => {
    for (const [url, code] of [
      ['http://127.0.0.1:9/x', 'address-not-allowed'],
      ['http://169.254.169.254/latest', 'address-not-allowed'],
      ['http://[::ffff:127.0.0.1]:9/x', 'address-not-allowed'],
      [`http://localhost:9/x`, 'address-not-allowed'],
    ] as const) {
      expect(await refusalOf(overlay.relayUrl(url)), url).toEqual([403, code]);
      expect(await refusalOf(overlay.relayUrl(url, { chains: [['d1']] })), url).toEqual([403, code]);
    }
  });

  test('the overlay itself, even where its network is allowed', async () => {
    const port = Number(new URL(overlay.depot('d2').url).port);
    await overlay.addDepot('d9', { addresses: { allow: [{ network: '127.0.0.0/8', ports: [port] }] } });
    const url = overlay.relayUrl(`http://127.0.0.1:${port}/metrics`, { chains: [['d9']] }, 'd9');
    expect(await refusalOf(url)).toEqual([403, 'address-not-allowed']);
  });

  test('anybody who asks for metrics through a proxy', async () => {
    const url = `${overlay.depot('d1').url}/metrics`;
    expect((await fetchRaw(url)).status).toBe(200);
    expect(await refusalOf(url, { 'X-Forwarded-For': '192.0.2.1' })).toEqual([404, 'not-found']);
  });

  test("a page that asks for metrics in an operator's browser, by a name that was led here", async () => {
    const url = `${overlay.depot('d1').url}/metrics`;
    expect(await refusalOf(url, { Host: 'evil.example:8470' })).toEqual([403, 'name-not-listed']);
    expect((await fetchRaw(url, { headers: { Host: 'localhost:8470' } })).status).toBe(200);
  });

  test('methods other than GET and HEAD', async () => {
    const answer = await fetchRaw(overlay.relayUrl(file()), { method: 'POST' });
    expect(answer).toMatchObject({ status: 405, headers: { [HEADERS.error]: 'method-not-allowed' } });
  });

  test('heads that are no HTTP or too large', async () => {
    expect(await exchangeText(overlay.depot('d1').url, 'nonsense\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 .*bad-request/s,
    );
    const large = `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`;
    expect(await exchangeText(overlay.depot('d1').url, large)).toMatch(
      /^HTTP\/1\.1 431 .*request-too-large/s,
    );
    expect((await fetchRaw(`${overlay.depot('d1').url}/metrics`)).body.toString()).toMatch(
      /refusals_total\{code="request-too-large"\} 1/,
    );
  });
});

describe('a ticket in time', () => {
  test('serves a job that has started until its end of life', async () => {
    const url = overlay.relayUrl(file());
    expect((await fetchRaw(url)).status).toBe(200);
    overlay.advanceSeconds(23 * 60 * MINUTE);
    expect((await fetchRaw(url)).status).toBe(200);
    expect((await fetchRaw(url, { headers: { Range: 'bytes=1-' } })).status).toBe(200);
  });

  test('past its last start sends a new download back to the master, and a resume away to wait', async () => {
    const url = overlay.relayUrl(`${file()}?a=%2F`);
    overlay.advanceSeconds(12 * MINUTE);
    const answer = await fetchRaw(url);
    const authority = overlay.originUrl.slice('http://'.length);
    expect(answer).toMatchObject({
      status: 307,
      headers: {
        location: `${overlay.master.url}/get/http/${authority}/file.bin?a=%2F`,
        'cache-control': 'no-store',
      },
    });
    expect(answer.headers['referrer-policy'], 'the master may lead to the origin').toBeUndefined();
    expect(answer.headers['access-control-allow-origin'], 'scripts are led, too').toBe('*');
    for (const program of ['Wget', 'fetch libfetch/2.0']) {
      const old = await fetchRaw(url, { headers: { 'User-Agent': program } });
      expect(old, 'as programs of before know it').toMatchObject({
        status: 302,
        headers: { location: answer.headers.location },
      });
    }
    expect(await refusalOf(url, { Range: 'bytes=1-' })).toEqual([503, 'ticket-start-over']);
    expect(overlay.originConnections()).toBe(0);
  });

  test('is resumed at a depot that has restarted since', async () => {
    const url = overlay.relayUrl(file(), { chains: [['d1']] });
    await overlay.depot('d1').depot.close(0);
    overlay.advanceSeconds(12 * MINUTE);
    const { url: newUrl } = await overlay.addDepot('d1');
    const moved = url.replace(/^http:\/\/[^/]*/, newUrl);
    expect((await fetchRaw(moved, { headers: { Range: 'bytes=1-' } })).status).toBe(200);
    expect((await fetchRaw(overlay.relayUrl(file(), { issuedAt: 1, lastStart: 2 }))).status).toBe(307);
  });

  test('whose budget is used up answers new requests 503', async () => {
    const url = overlay.relayUrl(file(), { budgetBytes: 5 });
    expect((await fetchRaw(url)).status).toBe(200);
    expect(await refusalOf(url)).toEqual([503, 'budget-used-up']);
    const twice = overlay.relayUrl(file(), { budgetConnections: 2 });
    expect((await fetchRaw(twice)).status).toBe(200);
    expect((await fetchRaw(twice)).status).toBe(200);
    expect(await refusalOf(twice)).toEqual([503, 'budget-used-up']);
  });

  test('signed with a key that is new opens after one question to the master', async () => {
    overlay.master.rotateKey();
    expect((await fetchRaw(overlay.relayUrl(file(), { chains: [['d1']] }))).status).toBe(200);
  });
});

describe("an origin's redirect", () => {
  test('within its own authority is followed by the depot', async () => {
    const answer = await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/to?/real//name.iso`));
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'content-disposition': 'attachment; filename="name.iso"' },
    });
    expect(overlay.originRequests.at(-1)?.url).toBe('/real//name.iso');
  });

  test('to another authority is followed with a ticket for that one', async () => {
    const mirror = createServer((_, response) => response.end('mirror'));
    const { port } = await listen(mirror, '127.0.0.1', 0);
    const addresses = {
      allow: [{ network: '127.0.0.0/8', ports: [port, Number(new URL(overlay.originUrl).port)] }],
    };
    await overlay.addDepot('d9', { addresses });
    overlay.master.onFollowUp = ({ url }) => ({
      status: 200,
      body: { ticket: overlay.ticket(url, { chains: [['d9']] }) },
    });
    const from = overlay.relayUrl(
      `${overlay.originUrl}/to?http://127.0.0.1:${port}/x`,
      { chains: [['d9']] },
      'd9',
    );
    expect((await fetchRaw(from)).body.toString()).toBe('mirror');
    await closeServer(mirror);
  });

  test('to an authority that the master does not allow is left to the client, to what depots never connect to refused', async () => {
    const answer = await refusalOf(overlay.relayUrl(`${overlay.originUrl}/to?http://10.0.0.1/x`));
    expect(answer).toEqual([307, 'master-bad-answer']);
    overlay.master.onFollowUp = ({ url }) => ({ status: 200, body: { ticket: overlay.ticket(url) } });
    expect(await refusalOf(overlay.relayUrl(`${overlay.originUrl}/to?http://10.0.0.1/x`))).toEqual([
      403,
      'address-not-allowed',
    ]);
  });

  test('in a circle, or to what a depot never fetches, is left to the client, which may have a cookie for it', async () => {
    const led = async (path: string, headers: Record<string, string> = {}) => {
      const { status, headers: answered } = await fetchRaw(overlay.relayUrl(overlay.originUrl + path), {
        headers,
      });
      return [status, answered[HEADERS.error], answered.location];
    };
    const [loop, circle, endless, file] = ['/loop', '/to?/back', '/next?0', '/to?file:///etc/passwd'];
    expect(await led(loop)).toEqual([307, 'redirect-limit', `${overlay.originUrl}${loop}`]);
    // No step is taken twice: the cookie that would lead on is the client's.
    expect(overlay.originRequests.length).toBe(2);
    expect(await led(circle)).toEqual([307, 'redirect-limit', `${overlay.originUrl}${circle}`]);
    expect(overlay.originRequests.length).toBe(5);
    expect(await led(endless)).toEqual([307, 'redirect-limit', `${overlay.originUrl}${endless}`]);
    expect(overlay.originRequests.length).toBe(26);
    expect(await led(file)).toEqual([307, 'redirect-bad-target', `${overlay.originUrl}${file}`]);
    // Browsers drop what they have where a resumption is redirected.
    const resumed = { range: 'bytes=7-', 'if-range': '"v1"' };
    expect(await led(loop, resumed)).toEqual([503, 'redirect-limit', undefined]);
  });

  test('is followed from a 300 that names one of several', async () => {
    const answer = await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/as/300?/file.bin`));
    expect(answer).toMatchObject({ status: 200, body: Buffer.from('hello') });
  });

  test.each(['/as/300?', '/as/302?', '/as/305?/file.bin', '/as/306?/file.bin', '/as/399?'])(
    'that names nothing to follow is left to the client, and no file: %s',
    async (path) => {
      const url = overlay.originUrl + path;
      for (const method of ['GET', 'HEAD'])
        for (const lanes of [1, 4])
          expect(await fetchRaw(overlay.relayUrl(url, { lanes }), { method })).toMatchObject({
            status: 307,
            headers: { [HEADERS.error]: 'redirect-bad-target', location: url },
            body: Buffer.alloc(0),
          });
      for (const [status, range] of [
        [503, 'bytes=7-'],
        [502, 'bytes=0-6'],
      ] as const) {
        const asked = { Range: range, 'If-Range': '"v1"' };
        expect(await refusalOf(overlay.relayUrl(url), asked)).toEqual([status, 'redirect-bad-target']);
      }
    },
  );

  test('from https to http is left to the client, too', async () => {
    const material = selfSigned();
    const mirrors = createTlsServer(material, (_request, response) => {
      response.writeHead(302, { Location: file() }).end();
    });
    const { port } = await listen(mirrors, '127.0.0.1', 0);
    const secured = await startTestOverlay(['d1'], () => {}, undefined, {
      trusted: [material.cert],
      config: { addresses: { allow: [{ network: '127.0.0.0/8', ports: [port] }] } },
    });
    const url = `https://127.0.0.1:${port}/x`;
    // With `Range` as `wget -c` sends it, too.
    for (const asked of [{}, { range: 'bytes=7-' }] as Record<string, string>[]) {
      const { status, headers } = await fetchRaw(secured.relayUrl(url), { headers: asked });
      expect([status, headers[HEADERS.error], headers.location]).toEqual([307, 'redirect-downgrade', url]);
    }
    await secured.close();
    mirrors.close();
  });
});

describe('a failure names itself and the depot where it happened, and leads who begins to the origin', () => {
  /** Who goes on with a file would drop what there is of it. */
  const resumed = (url: string) => refusalOf(url, { Range: 'bytes=7-', 'If-Range': '"v1"' });

  test('when the origin does not answer', async () => {
    const dead = createServer();
    const { port } = await listen(dead, '127.0.0.1', 0);
    const addresses = { allow: [{ network: '127.0.0.0/8', ports: [port] }] };
    await overlay.addDepot('d9', { addresses });
    await closeServer(dead);
    await overlay.depot('d1').depot.close(0);
    await overlay.addDepot('d1');
    const url = `http://127.0.0.1:${port}/x`;
    const through = () => overlay.relayUrl(url, { chains: [['d1', 'd9']] });
    expect(await fetchRaw(through())).toMatchObject({
      status: 307,
      headers: { [HEADERS.error]: 'origin-unreachable', [HEADERS.depot]: 'd9', location: url },
    });
    expect(await resumed(through())).toEqual([503, 'origin-unreachable']);
  });

  test("when the origin's TLS is none", async () => {
    const url = overlay.originUrl.replace('http:', 'https:');
    const answer = await fetchRaw(overlay.relayUrl(`${url}/x`));
    expect(answer).toMatchObject({
      status: 307,
      headers: {
        [HEADERS.error]: 'origin-tls-failed',
        [HEADERS.depot]: 'd1',
        location: `${url}/x`,
      },
    });
    expect(await resumed(overlay.relayUrl(`${url}/x`))).toEqual([503, 'origin-tls-failed']);
  });

  test("when the origin's certificate is not one that the depot trusts, and nothing has been asked", async () => {
    const asked: string[] = [];
    const impostor = createTlsServer(selfSigned(), (request, response) => {
      asked.push(request.url ?? '');
      response.end('forged');
    });
    const { port } = await listen(impostor, '127.0.0.1', 0);
    const addresses = { allow: [{ network: '127.0.0.0/8', ports: [port] }] };
    await overlay.addDepot('d9', { addresses });
    const answer = await fetchRaw(
      overlay.relayUrl(`https://127.0.0.1:${port}/x`, { chains: [['d1', 'd9']] }),
    );
    expect(answer).toMatchObject({ status: 307, headers: { [HEADERS.error]: 'origin-tls-failed' } });
    expect(asked).toEqual([]);
    impostor.close();
  });

  test('when the origin is silent', async () => {
    let asked = 0;
    const silent = createServer(() => {
      asked += 1;
    });
    const { port } = await listen(silent, '127.0.0.1', 0);
    const addresses = { allow: [{ network: '127.0.0.0/8', ports: [port] }] };
    for (const id of ['d8', 'd9'])
      await overlay.addDepot(id, { addresses, timeouts: { answerSeconds: 0.2 } });
    const through = () =>
      overlay.relayUrl(`http://127.0.0.1:${port}/x`, { chains: [['d9', 'd8'], ['d9']] }, 'd9');
    expect(await fetchRaw(through())).toMatchObject({
      status: 307,
      headers: { [HEADERS.error]: 'origin-timeout' },
    });
    // It thinks no faster for the next who asks ...
    expect(asked).toBe(1);
    // ... and who cannot be led to it has nothing better.
    expect(await resumed(through())).toEqual([503, 'origin-timeout']);
    expect(asked).toBe(3);
    expect(await refusalOf(through(), { Range: 'bytes=0-6', 'If-Range': '"v1"' })).toEqual([
      504,
      'origin-timeout',
    ]);
    expect(asked).toBe(5);
    await closeServer(silent);
  });
});

describe('a tunnel for a client', () => {
  test('carries bytes both ways through the whole chain, to the authority of its ticket', async () => {
    const authority = overlay.originUrl.slice('http://'.length);
    const ticket = overlay.ticket(file(), { kind: 'tunnel' });
    const basic = Buffer.from(`ticket:${ticket}`).toString('base64');
    const answer = await exchangeText(
      overlay.depot('d1').url,
      `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\nProxy-Authorization: Basic ${basic}\r\n\r\n` +
        `GET /file.bin HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 Connected\r\n.*\r\n\r\nHTTP\/1\.1 200 OK.*hello$/s);
    await expect
      .poll(() => overlay.depot('d2').events.at(-1))
      .toMatchObject({ type: 'tunnel', role: 'exit' });
  });
});
