import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http';
import { HEADERS } from '@longhaul/shared';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fetchRaw, type RawAnswer } from '../testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from '../testing/overlay.ts';
import { testPlanes } from '../testing/test-planes.ts';

const file = randomBytes(3_000_000);
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const IDS = ['d1', 'd2', 'd3'];
const BEYOND_ASCII = Buffer.from('attachment; filename="报表.zip"', 'utf8').toString('latin1');
const RANGE = /^bytes=([0-9]+)-([0-9]*)$/;

describe.each(await testPlanes())('with a relay of %s,', (_kind, splice) => {
  let overlay: TestOverlay;
  /** Answers that the test gives itself, of paths that begin with `/held`. */
  let held: ServerResponse[];

  const origin: RequestListener = (request, response) => {
    const path = request.url ?? '';
    const range = RANGE.exec(request.headers.range ?? '');
    if (path.startsWith('/held')) held.push(response);
    else if (path.startsWith('/repaired') && !range) {
      held.push(response);
      response.writeHead(200, { 'Content-Length': file.length, ETag: '"v1"', 'Accept-Ranges': 'bytes' });
      response.write(file.subarray(0, 1_000_000));
    } else if (path.startsWith('/moved')) response.writeHead(302, { Location: '/file.bin' }).end();
    else if (path.startsWith('/missing')) response.writeHead(404).end('nothing');
    else if (path.startsWith('/no-depots')) response.writeHead(403).end('go home');
    else if (path.startsWith('/chunked')) {
      response.write(file.subarray(0, 100_000));
      response.end(file.subarray(100_000));
    } else if (path.startsWith('/unknown-length')) {
      request.socket.end(Buffer.concat([Buffer.from('HTTP/1.0 200 OK\r\n\r\n'), file]));
    } else if (path.startsWith('/short')) {
      response.writeHead(200, { 'Content-Disposition': 'attachment; filename="named.txt"' }).end('short');
    } else if (path.startsWith('/variants')) {
      response.end(request.headers['accept-language']);
    } else if (path.startsWith('/beyond-ascii')) {
      response.writeHead(200, { 'Content-Disposition': BEYOND_ASCII, 'Content-Length': 5 });
      response.end(Buffer.from('short'));
    } else {
      const start = Number(range?.[1] ?? 0);
      const end = Number(range?.[2] || file.length - 1);
      response.writeHead(range ? 206 : 200, {
        'Content-Length': end - start + 1,
        ETag: '"v1"',
        'Accept-Ranges': 'bytes',
        'Access-Control-Allow-Origin': '*',
        ...(range ? { 'Content-Range': `bytes ${start}-${end}/${file.length}` } : {}),
      });
      response.end(request.method === 'HEAD' ? undefined : file.subarray(start, end + 1));
    }
  };

  beforeEach(async () => {
    held = [];
    // What the origin holds is not asked for again.
    const config = { failover: { fetchAgain: 'never' } };
    overlay = await startTestOverlay(IDS, origin, splice, { config });
  });
  afterEach(() => overlay.close());

  const base = (id: string) => overlay.depot(id).url;
  const portOf = (id: string) => new URL(base(id)).port;
  /** The first address of a stepwise download, at its exit depot. */
  const firstUrl = (path: string, claims: object = {}, exit = 'd3') =>
    overlay.relayUrl(overlay.originUrl + path, { kind: 'stepwise', ...claims }, exit);
  const ticketOf = (url: string) => /\?([^&]*)/.exec(url)?.[1] ?? '';

  /** Follows redirects as plain clients do: with the same method and headers. */
  async function follow(
    url: string,
    init: { method?: string; headers?: Record<string, string> } = {},
  ): Promise<{ answer: RawAnswer; visited: string[] }> {
    const visited = [url];
    for (;;) {
      const answer = await fetchRaw(visited.at(-1) ?? '', init);
      const { location } = answer.headers;
      if (answer.status !== 302 || location === undefined) return { answer, visited };
      visited.push(location);
    }
  }

  async function refusalOf(url: string, init: { method?: string; headers?: Record<string, string> } = {}) {
    const { status, headers } = await fetchRaw(url, init);
    return [status, headers[HEADERS.error]];
  }

  const active = async (id: string) => (await metricOf(id, 'longhaul_depot_active'))[0];
  const waiting = async (id: string) => (await metricOf(id, 'longhaul_depot_waiting'))[0];
  async function metricOf(id: string, name: string): Promise<string[]> {
    const text = (await fetchRaw(`${base(id)}/metrics`)).body.toString();
    return text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .map((line) => line.slice(line.lastIndexOf(' ') + 1));
  }

  /** Nothing runs, nothing waits, and the origin has no connection left. */
  async function expectNothingLeft(ids = IDS) {
    for (const id of ids) {
      await expect.poll(() => active(id)).toBe('0');
      await expect.poll(() => waiting(id)).toBe('0');
    }
    await expect.poll(() => overlay.originOpenConnections()).toBe(0);
  }

  describe('a stepwise download', () => {
    test('is held to the version that the client names where the origin pays no heed to that', async () => {
      const refused = await follow(firstUrl('/file.bin'), { headers: { 'if-match': '"v0"' } });
      expect(refused.answer.headers[HEADERS.error]).toBe('origin-changed');
      const headers = { range: 'bytes=5-', 'if-range': '"v0"' };
      const { answer } = await follow(firstUrl('/other.bin'), { headers });
      expect(answer).toMatchObject({ status: 200, broken: undefined });
      expect(digest(answer.body)).toBe(digest(file));
      await expectNothingLeft();
    });

    test("exchanges the paper's messages: from the exit depot down to the entry depot, which gives the file", async () => {
      const first = firstUrl('/d/file.bin?a=%2F');
      const ticket = ticketOf(first);
      const authority = overlay.originUrl.slice('http://'.length);
      const port = authority.split(':')[1];
      // Message 3, to D3; message 4 is its answer.
      expect(first).toBe(
        `${base('d3')}/d/file.bin?${ticket}&server=127.0.0.1&port=${port}&scheme=http&query=a%3D%252F`,
      );
      const four = await fetchRaw(first);
      expect(four).toMatchObject({ status: 302, headers: { 'cache-control': 'no-store' } });
      expect(four.headers.location).toBe(`${base('d2')}/d/file.bin?${ticket}&depot=d3&port=${portOf('d3')}`);
      // Message 5, to D2; message 6 is its answer.
      const six = await fetchRaw(four.headers.location ?? '');
      expect(six).toMatchObject({ status: 302, headers: { 'cache-control': 'no-store' } });
      for (const { headers } of [four, six]) {
        expect(headers['referrer-policy']).toBeUndefined();
        expect(headers['access-control-allow-origin']).toBe('*');
      }
      expect(six.headers.location).toBe(`${base('d1')}/d/file.bin?${ticket}&depot=d2&port=${portOf('d2')}`);
      // Message 7, to D1, which answers with the file.
      const seven = await fetchRaw(six.headers.location ?? '');
      expect(seven).toMatchObject({ status: 200, broken: undefined, headers: { etag: '"v1"' } });
      expect(seven.headers['content-disposition']).toBe('attachment; filename="file.bin"');
      expect(seven.headers['access-control-allow-origin'], 'as its origin opens it').toBe('*');
      expect(digest(seven.body)).toBe(digest(file));
      expect(seven.headers[HEADERS.origin]).toBeUndefined();
      // N depots, N + 1 connections for the body: one to the origin, one between each two, the client's own.
      expect(overlay.originRequests.map(({ url }) => url)).toEqual(['/d/file.bin?a=%2F']);
      expect(overlay.originConnections()).toBe(1);
      const done = { type: 'handover', outcome: 'complete', bodyBytes: file.length };
      await expect
        .poll(() => overlay.depot('d3').events.filter(({ type }) => type === 'handover'))
        .toEqual([expect.objectContaining({ ...done, role: 'exit' })]);
      await expect
        .poll(() => overlay.depot('d2').events.filter(({ type }) => type === 'handover'))
        .toEqual([expect.objectContaining({ ...done, role: 'middle' })]);
      await expect
        .poll(() => overlay.depot('d1').events.filter(({ type }) => type === 'transfer'))
        .toEqual([expect.objectContaining({ outcome: 'complete', chain: IDS, bodyBytes: file.length })]);
      for (const id of IDS)
        expect(
          overlay.depot(id).events.filter(({ type }) => type === 'tunnel' || type === 'refusal'),
        ).toEqual([]);
      await expectNothingLeft();
    });

    test('is a pipeline: the exit depot fetches before any other is asked, and nobody waits for the origin', async () => {
      const four = await fetchRaw(firstUrl('/held.bin'));
      await expect.poll(() => held.length).toBe(1);
      held[0]?.writeHead(200, { 'Content-Length': 10 });
      await new Promise<void>((resolve) => held[0]?.write('first', () => resolve()));
      const six = await fetchRaw(four.headers.location ?? '');
      const seven = fetchRaw(six.headers.location ?? '');
      held[0]?.end('final');
      expect((await seven).body.toString()).toBe('firstfinal');
      // The client is at the last depot while the origin has said nothing.
      const { visited } = await walk(firstUrl('/held.bin'));
      const last = fetchRaw(visited.at(-1) ?? '');
      await expect.poll(() => held.length).toBe(2);
      held[1]?.end('late');
      expect((await last).body.toString()).toBe('late');
    });

    test.each(['/chunked', '/unknown-length'])('of a body %s arrives whole', async (path) => {
      const { answer } = await follow(firstUrl(path));
      expect(answer).toMatchObject({ status: 200, broken: undefined });
      expect(digest(answer.body)).toBe(digest(file));
      expect(answer.headers['content-length']).toBeUndefined();
      await expectNothingLeft();
    });

    test('keeps the name that the origin gives, and its errors', async () => {
      const { answer } = await follow(firstUrl('/short'));
      expect(answer.headers['content-disposition']).toBe('attachment; filename="named.txt"');
      const { headers } = (await follow(firstUrl('/beyond-ascii'))).answer;
      expect(headers['content-disposition']).toBe(`${BEYOND_ASCII}; filename*=UTF-8''%E6%8A%A5%E8%A1%A8.zip`);
      expect((await follow(firstUrl('/missing'))).answer).toMatchObject({
        status: 404,
        headers: { 'content-type': 'text/plain; charset=utf-8' },
      });
    });

    test('ends at the origin itself where that refuses the depot', async () => {
      for (const method of ['GET', 'HEAD']) {
        const { answer } = await follow(firstUrl('/no-depots'), { method });
        const location = `${overlay.originUrl}/no-depots`;
        expect(answer).toMatchObject({ status: 307, headers: { location } });
      }
      await expectNothingLeft();
    });

    test('carries the range that was asked for, and HEAD', async () => {
      const headers = { Range: 'bytes=100-', 'If-Range': '"v1"' };
      const { answer, visited } = await follow(firstUrl('/file.bin'), { headers });
      expect(visited).toHaveLength(3);
      expect(answer).toMatchObject({
        status: 206,
        headers: { 'content-range': expect.stringContaining('bytes 100-') },
      });
      expect(digest(answer.body)).toBe(digest(file.subarray(100)));
      expect(overlay.originRequests[0]?.headers).toMatchObject({ range: 'bytes=100-', 'if-range': '"v1"' });
      const head = await follow(firstUrl('/file.bin'), { method: 'HEAD' });
      expect(head.answer).toMatchObject({ status: 200, headers: { 'content-length': String(file.length) } });
      expect(overlay.originRequests.at(-1)?.method).toBe('HEAD');
      await expectNothingLeft();
    });

    test('of one depot or two is served as well', async () => {
      const one = await follow(firstUrl('/file.bin', { chains: [['d1']] }, 'd1'));
      expect(one.visited).toHaveLength(1);
      expect(digest(one.answer.body)).toBe(digest(file));
      const two = await follow(firstUrl('/file.bin', { chains: [['d1', 'd3']] }));
      expect(two.visited).toHaveLength(2);
      expect(digest(two.answer.body)).toBe(digest(file));
    });

    test('is served by cascade at its entry depot, by the same ticket', async () => {
      const url = overlay.relayUrl(`${overlay.originUrl}/file.bin`, { kind: 'stepwise' }, 'd1');
      expect(digest((await fetchRaw(url)).body)).toBe(digest(file));
      expect(overlay.depot('d3').events.some(({ type }) => type === 'handover')).toBe(false);
    });

    test('resumes at the address of its entry depot, as often as wanted, whatever became of the others', async () => {
      const { visited } = await follow(firstUrl('/file.bin'));
      const last = visited.at(-1) ?? '';
      for (const start of [1, 2_999_999]) {
        const part = await fetchRaw(last, { headers: { Range: `bytes=${start}-` } });
        expect(part.status).toBe(206);
        expect(digest(part.body)).toBe(digest(file.subarray(start)));
      }
      expect(digest((await fetchRaw(last)).body), 'and from its start').toBe(digest(file));
      await overlay.depot('d2').depot.close(0);
      const part = await fetchRaw(last, { headers: { Range: 'bytes=5-' } });
      expect(digest(part.body)).toBe(digest(file.subarray(5)));
      expect(digest((await fetchRaw(last)).body)).toBe(digest(file));
    });

    test('whose entry depot has forgotten all is resumed as long as a depot knows the URL', async () => {
      const { visited } = await follow(firstUrl('/file.bin'));
      await overlay.depot('d1').depot.close(0);
      await overlay.addDepot('d1');
      const last = (visited.at(-1) ?? '').replace(/^http:\/\/[^/]*/, base('d1'));
      const part = await fetchRaw(last, { headers: { Range: 'bytes=5-' } });
      expect(part.status).toBe(206);
      expect(digest(part.body)).toBe(digest(file.subarray(5)));
    });

    test('from an origin that redirects is fetched by cascade', async () => {
      const { answer, visited } = await follow(firstUrl('/moved'));
      expect(visited).toHaveLength(3);
      expect(digest(answer.body)).toBe(digest(file));
      await expectNothingLeft();
    });

    test('asked for at once in several parts gives each its own', async () => {
      const first = firstUrl('/file.bin');
      const starts = [0, 1_000_000, 2_000_000];
      const answers = await Promise.all(
        starts.map((start) => follow(first, { headers: { Range: `bytes=${start}-${start + 999_999}` } })),
      );
      for (const [index, start] of starts.entries()) {
        const { answer } = answers[index] ?? {};
        expect(digest(answer?.body ?? Buffer.alloc(0))).toBe(digest(file.subarray(start, start + 1_000_000)));
      }
    });

    test('that two begin by the same ticket gives each the variant that it asks for', async () => {
      const url = firstUrl('/variants');
      const begin = async (language: string) => {
        const headers = { 'Accept-Language': language };
        const { visited } = await walk(url, IDS.length, headers);
        return async () => (await fetchRaw(visited.at(-1) ?? '', { headers })).body.toString();
      };
      const [first, second] = [await begin('pt-BR'), await begin('de')];
      expect([await second(), await first()]).toEqual(['de', 'pt-BR']);
      await expectNothingLeft();
    });

    test('that breaks off at the origin resets the client: the short file never looks whole', async () => {
      const { visited } = await walk(firstUrl('/held.bin'));
      const asked = request(visited.at(-1) ?? '', { agent: false });
      asked.on('error', () => {});
      asked.end();
      await expect.poll(() => held.length).toBe(1);
      held[0]?.writeHead(200, { 'Content-Length': 1_000_000 });
      held[0]?.write(file.subarray(0, 500_000));
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      const broken = once(answer, 'error');
      answer.resume();
      held[0]?.socket?.resetAndDestroy();
      expect((await broken)[0]).toMatchObject({ code: 'ECONNRESET' });
      expect(answer.complete).toBe(false);
      await expectNothingLeft();
    });

    test('whose chain breaks goes on by cascade, at the exact next byte of the same download', async () => {
      const { visited } = await walk(firstUrl('/repaired.bin'));
      const asked = request(visited.at(-1) ?? '', { agent: false });
      asked.end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      await once(answer, 'data');
      const ended = once(answer, 'end');
      await overlay.depot('d2').depot.close(0);
      await ended;
      expect(answer.complete).toBe(true);
      expect(digest(Buffer.concat(chunks))).toBe(digest(file));
      expect(overlay.depot('d1').events.some(({ type }) => type === 'failover')).toBe(true);
      expect(overlay.originRequests.at(-1)?.headers['if-range']).toBe('"v1"');
    });

    test('that breaks off before its head has come is fetched by cascade', async () => {
      const { visited } = await walk(firstUrl('/held.bin'));
      await expect.poll(() => held.length).toBe(1);
      held[0]?.socket?.resetAndDestroy();
      const last = fetchRaw(visited.at(-1) ?? '');
      await expect.poll(() => held.length).toBe(2);
      held[1]?.end('by cascade');
      expect((await last).body.toString()).toBe('by cascade');
    });
  });

  describe('a depot that has no part in it', () => {
    const claims = { kind: 'stepwise' } as const;

    test('refuses the wrong place, the wrong predecessor and the wrong port', async () => {
      const ticket = overlay.ticket(`${overlay.originUrl}/f`, claims);
      const at = (id: string, rest: string) => refusalOf(`${base(id)}/f?${ticket}${rest}`);
      expect(await at('d3', `&depot=d2&port=${portOf('d2')}`)).toEqual([403, 'ticket-wrong-depot']);
      expect(await at('d2', `&depot=d1&port=${portOf('d1')}`)).toEqual([400, 'parameters-disagree']);
      expect(await at('d1', `&depot=d3&port=${portOf('d3')}`)).toEqual([400, 'parameters-disagree']);
      expect(await at('d2', '&depot=d3&port=9')).toEqual([400, 'parameters-disagree']);
      expect(await at('d1', '&depot=d2&port=9')).toEqual([400, 'parameters-disagree']);
      const origin = `&server=127.0.0.1&port=${new URL(overlay.originUrl).port}&scheme=http`;
      expect(await at('d2', origin)).toEqual([403, 'ticket-wrong-depot']);
      expect(await at('d1', '')).toEqual([403, 'ticket-wrong-depot']);
      expect(overlay.originConnections()).toBe(0);
      await expectNothingLeft();
    });

    test('refuses other URLs, other methods and https origins', async () => {
      const first = firstUrl('/f');
      expect(await refusalOf(first.replace('/f?', '/g?'))).toEqual([403, 'ticket-wrong-url']);
      expect(await refusalOf(first.replace('127.0.0.1&port', '127.0.0.2&port'))).toEqual([
        403,
        'ticket-wrong-authority',
      ]);
      expect(await refusalOf(first, { method: 'POST' })).toEqual([405, 'method-not-allowed']);
      const secure = overlay.relayUrl(`https${overlay.originUrl.slice(4)}/f`, claims, 'd3');
      expect(await refusalOf(secure)).toEqual([403, 'ticket-wrong-kind']);
      expect(overlay.originConnections()).toBe(0);
    });

    test('takes the steps by no ticket for cascade', async () => {
      expect(await refusalOf(firstUrl('/f', { kind: 'get' }))).toEqual([403, 'ticket-wrong-depot']);
      const ticket = overlay.ticket(`${overlay.originUrl}/f`);
      const step = `&depot=d2&port=${portOf('d2')}`;
      expect(await refusalOf(`${base('d1')}/f?${ticket}${step}`)).toEqual([403, 'ticket-wrong-kind']);
      expect(await refusalOf(`${base('d1')}/f?${ticket}`)).toEqual([403, 'ticket-wrong-kind']);
      const tunnel = overlay.ticket(`${overlay.originUrl}/f`, { kind: 'tunnel' });
      expect(await refusalOf(`${base('d1')}/f?${tunnel}${step}`)).toEqual([403, 'ticket-wrong-kind']);
    });

    test('sends a ticket that is too old back to the master, which plans it stepwise again', async () => {
      const first = firstUrl('/f?q=1');
      overlay.advanceSeconds(12 * 60);
      const authority = overlay.originUrl.slice('http://'.length);
      expect(await fetchRaw(first)).toMatchObject({
        status: 307,
        headers: { location: `${overlay.master.url}/get/~signalling=stepwise/http/${authority}/f?q=1` },
      });
      expect(await refusalOf(first, { headers: { Range: 'bytes=1-' } })).toEqual([503, 'ticket-start-over']);
    });
  });

  describe('what waits for a successor', () => {
    test('is given to nobody without proof', async () => {
      const first = firstUrl('/file.bin');
      await fetchRaw(first);
      const handover = `${base('d3')}/file.bin?${ticketOf(first)}`;
      expect(await refusalOf(handover)).toEqual([403, 'caller-not-proved']);
      const proof = `d2 ${Date.now()} ${randomBytes(64).toString('base64url')}`;
      expect(await refusalOf(handover, { headers: { [HEADERS.proof]: proof } })).toEqual([
        403,
        'caller-not-proved',
      ]);
      expect(await waiting('d3')).toBe('1');
    });

    test('is given once: without it the entry depot is told to come again, or knows the URL', async () => {
      const first = firstUrl('/file.bin');
      const step = (id: string, from: string) =>
        `${base(id)}/file.bin?${ticketOf(first)}&depot=${from}&port=${portOf(from)}`;
      const missing = await fetchRaw(step('d1', 'd2'));
      expect(missing).toMatchObject({
        status: 503,
        headers: { [HEADERS.error]: 'handover-missing', [HEADERS.depot]: 'd2', 'retry-after': '5' },
      });
      // D2 finds nothing at D3, and says so to D1.
      expect((await fetchRaw(step('d2', 'd3'))).status).toBe(302);
      expect(await refusalOf(step('d1', 'd2'))).toEqual([503, 'handover-missing']);
      await expectNothingLeft();
      const { answer } = await follow(first);
      expect(digest(answer.body)).toBe(digest(file));
    });

    test('is dropped when the successor never comes', async () => {
      await overlay.depot('d3').depot.close(0);
      await overlay.addDepot('d3', {
        stepwise: { waitSeconds: 0.1 },
      });
      await fetchRaw(firstUrl('/file.bin'));
      await expect
        .poll(() => overlay.depot('d3').events.find(({ type }) => type === 'handover'))
        .toMatchObject({ outcome: 'expired', role: 'exit' });
      await expectNothingLeft();
    });

    test('is bounded in number, and is dropped by a depot that stops', async () => {
      await overlay.depot('d3').depot.close(0);
      await overlay.addDepot('d3', {
        stepwise: { waiting: 1, redirectStatus: 301 },
      });
      const answer = await fetchRaw(firstUrl('/file.bin'));
      expect(answer).toMatchObject({ status: 301, headers: { 'cache-control': 'no-store' } });
      expect(await refusalOf(firstUrl('/file.bin'))).toEqual([307, 'depot-full']);
      await overlay.depot('d3').depot.close(60_000);
      await expect.poll(() => overlay.originOpenConnections()).toBe(0);
    });

    test('of an origin that does not answer ends with its code, and a client that leaves frees the chain', async () => {
      const { visited } = await walk(firstUrl('/held.bin'));
      const asked = fetchRaw(visited.at(-1) ?? '');
      await expect.poll(() => held.length).toBe(1);
      held[0]?.socket?.resetAndDestroy();
      // By cascade then, over the plan's chain and from the entry depot alone, which find the same origin.
      for (const index of [1, 2]) {
        await expect.poll(() => held.length).toBe(index + 1);
        held[index]?.socket?.resetAndDestroy();
      }
      expect(await asked).toMatchObject({ status: 307, headers: { [HEADERS.error]: 'origin-unreachable' } });
      await expectNothingLeft();
    });

    test('leaves nothing behind when clients leave at any step', async () => {
      await overlay.close();
      const config = { stepwise: { waitSeconds: 0.5 }, limits: { spareLegs: 0 } };
      overlay = await startTestOverlay(IDS, origin, splice, { config });
      // Whatever is opened once and kept is open now.
      await follow(firstUrl('/file.bin'));
      await expectNothingLeft();
      const before = descriptors();
      await Promise.all(
        Array.from({ length: 30 }, async (_, index) => {
          const { visited } = await walk(firstUrl('/held.bin'), 1 + (index % 3));
          if (visited.length === 3) await askAndLeave(visited.at(-1) ?? '');
        }),
      );
      expect(held.length).toBeGreaterThan(0);
      await expectNothingLeft();
      await expect.poll(descriptors).toBeLessThanOrEqual(before);
    });

    test('is freed up to the origin when the client leaves in the middle of the file', async () => {
      const { visited } = await walk(firstUrl('/held.bin'));
      const asked = request(visited.at(-1) ?? '', { agent: false });
      asked.on('error', () => {});
      asked.end();
      await expect.poll(() => held.length).toBe(1);
      held[0]?.writeHead(200, { 'Content-Length': 10_000_000 });
      held[0]?.write(file);
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      answer.on('error', () => {});
      await once(answer, 'data');
      asked.destroy();
      await expectNothingLeft();
      const outcome = (id: string, type: string) =>
        overlay.depot(id).events.find((event) => event.type === type);
      expect(outcome('d1', 'transfer')).toMatchObject({ outcome: 'client-left' });
      for (const id of ['d2', 'd3'])
        expect(outcome(id, 'handover')).toMatchObject({ outcome: 'successor-left' });
    });
  });

  /** Descriptors of this process, where the system can tell. */
  function descriptors(): number {
    return existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0;
  }

  /** Asks, and leaves as soon as the depot has heard it. */
  async function askAndLeave(url: string): Promise<void> {
    const asked = request(url, { agent: false });
    asked.on('error', () => {});
    asked.end();
    await once(asked, 'finish');
    asked.destroy();
  }

  /** Follows redirects to the address of the last depot, without asking for that, or to an earlier one. */
  async function walk(
    first: string,
    stops = IDS.length,
    headers: Record<string, string> = {},
  ): Promise<{ visited: string[] }> {
    const visited = [first];
    while (visited.length < stops) {
      const answer = await fetchRaw(visited.at(-1) ?? '', { headers });
      visited.push(answer.headers.location ?? '');
    }
    return { visited };
  }
});
