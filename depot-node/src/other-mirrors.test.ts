import { createHash, randomBytes } from 'node:crypto';
import { createServer, get, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { listen } from './sockets/listener.ts';
import { fetchRaw, type RawAnswer } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { closeServer } from './testing/test-master.ts';
import { testPlanes } from './testing/test-planes.ts';

const file = randomBytes(1_500_000);
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
/** What a mirror gives before it dies. */
const GIVEN_BYTES = 600_000;

/** A server of the same file, under its own tag. */
interface Mirror {
  readonly server: Server;
  readonly port: number;
  requests: number;
  tag: string;
  /** Says of a request whether it is answered as usual. */
  takes: (response: ServerResponse) => boolean;
}

describe.each(await testPlanes())('with a relay of %s, a mirror', (_kind, splice) => {
  let overlay: TestOverlay;
  let mirrors: Mirror[];
  let first: Mirror;
  let second: Mirror;
  /** Mirrors that the redirector names, one after the other; the last one from then on. */
  let named: Mirror[];
  let redirects = 0;

  async function startMirror(): Promise<Mirror> {
    const serve: RequestListener = (asked, answer) => {
      mirror.requests += 1;
      if (!mirror.takes(answer)) return;
      if ((asked.headers['if-match'] ?? mirror.tag) !== mirror.tag) {
        answer.writeHead(412, { 'Content-Length': 0 }).end();
        return;
      }
      const [, from, to] = /^bytes=([0-9]+)-([0-9]*)$/.exec(asked.headers.range ?? '') ?? [];
      const body = file.subarray(Number(from ?? 0), to ? Number(to) + 1 : file.length);
      const endByte = Number(from ?? 0) + body.length;
      const isPart = from !== undefined && (asked.headers['if-range'] ?? mirror.tag) === mirror.tag;
      const range = isPart ? { 'Content-Range': `bytes ${from}-${endByte - 1}/${file.length}` } : {};
      const given = isPart ? body : file;
      answer
        .writeHead(isPart ? 206 : 200, { ETag: mirror.tag, 'Content-Length': given.length, ...range })
        .end(given);
    };
    const server = createServer(serve);
    const { port } = await listen(server, '127.0.0.1', 0);
    const mirror: Mirror = { server, port, requests: 0, tag: '"v1"', takes: () => true };
    return mirror;
  }

  beforeAll(async () => {
    const redirector: RequestListener = (_asked, answer) => {
      redirects += 1;
      const { port } = (named.length > 1 ? named.shift() : named[0]) ?? { port: 0 };
      answer.writeHead(302, { Location: `http://127.0.0.1:${port}/pool/file`, 'Content-Length': 0 }).end();
    };
    overlay = await startTestOverlay([], redirector, splice);
  });
  afterAll(() => overlay.close());
  beforeEach(async () => {
    mirrors = [await startMirror(), await startMirror()];
    [first, second] = mirrors as [Mirror, Mirror];
    named = [first, second];
    redirects = 0;
    const ports = [Number(new URL(overlay.originUrl).port), ...mirrors.map(({ port }) => port)];
    const addresses = { allow: [{ network: '127.0.0.0/8', ports }] };
    await overlay.addDepot('d2', { addresses });
    await overlay.addDepot('d1', { addresses, failover: { repairSeconds: 20 } });
    await overlay.addDepot('short', { addresses, failover: { repairSeconds: 1 } });
    overlay.master.onFollowUp = ({ url, avoid }) =>
      avoid
        ? { status: 404, body: {}, code: 'no-other-chain' }
        : { status: 200, body: { ticket: overlay.ticket(url, { chains: chainsFrom(entry) }) } };
  });
  afterEach(async () => {
    for (const id of ['short', 'd1', 'd2']) await overlay.depot(id).depot.close(0);
    await Promise.all(mirrors.map(({ server }) => closeServer(server)));
  });

  let entry = 'd1';
  let alone = false;
  const chainsFrom = (id: string) => (alone ? [[id]] : [[id, 'd2'], [id]]);
  const download = (lanes = 1): Promise<RawAnswer> =>
    fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file`, { chains: chainsFrom(entry), lanes }, entry));

  /** Gives the beginning of its next answer, and does `then` at once and to whoever comes later. */
  function diesBy(mirror: Mirror, then: (response: ServerResponse) => void): void {
    mirror.takes = (response) => {
      mirror.takes = (later) => {
        then(later);
        return false;
      };
      response.writeHead(200, { ETag: mirror.tag, 'Content-Length': file.length });
      response.write(file.subarray(0, GIVEN_BYTES), () => response.socket?.resetAndDestroy());
      return false;
    };
  }

  const answers = (status: number) => (response: ServerResponse) =>
    void response.writeHead(status, { 'Content-Length': 0 }).end();

  beforeEach(() => {
    entry = 'd1';
    alone = false;
  });

  test.each([
    ['a chain', false, 1],
    ['one depot', true, 1],
    ['lanes', false, 4],
  ])(
    'that dies in the middle and is gone, is replaced by the one that is named then, over %s',
    async (_way, isAlone, lanes) => {
      alone = isAlone;
      first.takes = (response) => {
        first.server.close();
        response.writeHead(200, { ETag: first.tag, 'Content-Length': file.length });
        response.write(file.subarray(0, GIVEN_BYTES), () => {
          response.socket?.resetAndDestroy();
          first.server.closeAllConnections();
        });
        return false;
      };
      const { status, body, broken } = await download(lanes);
      expect({ status, broken }).toEqual({ status: 200, broken: undefined });
      expect(hash(body)).toBe(hash(file));
      expect(second.requests).toBeGreaterThan(0);
    },
  );

  test.each([500, 502, 503, 504])(
    'that dies in the middle and answers %i, is replaced by the one that is named then',
    async (status) => {
      diesBy(first, answers(status));
      const { body, broken } = await download();
      expect(broken).toBeUndefined();
      expect(hash(body)).toBe(hash(file));
      expect({ redirects, second: second.requests }).toEqual({ redirects: 2, second: 1 });
    },
  );

  test('that dies in the middle is never joined with one that has another version', async () => {
    entry = 'short';
    second.tag = '"v2"';
    diesBy(first, answers(502));
    const { body, broken } = await download();
    expect(broken).toBe('ECONNRESET');
    expect(hash(body)).toBe(hash(file.subarray(0, body.length)));
    const isTold = () =>
      overlay.depot(entry).events.some((event) => event.type === 'refusal' && event.code === 'ways-used-up');
    await expect.poll(isTold).toBe(true);
  });

  test('that dies in the middle is waited for where the others have another version', async () => {
    second.tag = '"v2"';
    diesBy(first, (response) => {
      answers(502)(response);
      // It is back when the other one has been asked more often than versions may differ.
      if (second.requests > 3) first.takes = () => true;
    });
    const { body, broken } = await download();
    expect(broken).toBeUndefined();
    expect(hash(body)).toBe(hash(file));
  });

  test('that dies in the middle is asked again where it is named again', async () => {
    named = [first];
    let refusals = 0;
    diesBy(first, (response) => {
      refusals += 1;
      answers(500)(response);
      if (refusals > 4) first.takes = () => true;
    });
    const { body, broken } = await download();
    expect(broken).toBeUndefined();
    expect(hash(body)).toBe(hash(file));
    expect(second.requests).toBe(0);
  });

  describe('that a client has a part of', () => {
    const fromByte = 700_000;
    let address: string;
    let lanes = 1;

    beforeEach(() => {
      lanes = 1;
    });

    /** Begins the download, and leaves it. */
    async function begin(): Promise<void> {
      const chains = chainsFrom(entry);
      address = overlay.relayUrl(`${overlay.originUrl}/file`, { chains, lanes }, entry);
      await new Promise<void>((resolve, reject) => {
        const asked = get(address, (answer) => {
          answer.once('data', () => {
            answer.destroy();
            resolve();
          });
        });
        asked.once('error', reject);
      });
    }
    const ask = async (headers: Record<string, string>) => {
      const { status, headers: given, body } = await fetchRaw(address, { headers });
      return { status, tag: given.etag, hash: hash(body) };
    };
    const goOn = (headers: Record<string, string> = { 'If-Range': '"v1"' }) =>
      ask({ Range: `bytes=${fromByte}-`, ...headers });
    const rest = { status: 206, tag: '"v1"', hash: hash(file.subarray(fromByte)) };

    test.each([
      ['a chain', false, 1, { 'If-Range': '"v1"' }],
      ['one depot', true, 1, { 'If-Match': '"v1"' }],
      ['lanes', false, 4, { 'If-Range': '"v1"' }],
      ['a chain, by no version', false, 1, {}],
    ])('is asked for the rest whatever is named then, over %s', async (_way, isAlone, laneCount, headers) => {
      alone = isAlone;
      lanes = laneCount;
      second.tag = '"v2"';
      await begin();
      for (let times = 0; times < 2; times += 1) expect(await goOn(headers)).toEqual(rest);
      expect({ redirects, second: second.requests }).toEqual({ redirects: 1, second: 0 });
    });

    test('says itself that it has changed to a client that wants no other version', async () => {
      await begin();
      first.tag = '"v2"';
      expect((await goOn({ 'If-Match': '"v1"' })).status).toBe(412);
      expect(redirects).toBe(1);
    });

    test('and has changed, is left for one that has the version which was begun', async () => {
      await begin();
      first.tag = '"v2"';
      expect(await goOn()).toEqual(rest);
      expect({ redirects, second: second.requests }).toEqual({ redirects: 2, second: 1 });
    });

    test.each([200, 403, 404, 429, 503])(
      'and answers %i without the rest, is replaced by one that is named then',
      async (status) => {
        await begin();
        first.takes = (response) => {
          answers(status)(response);
          return false;
        };
        expect(await goOn()).toEqual(rest);
        const { requests } = first;
        expect(await goOn()).toEqual(rest);
        expect({ first: first.requests - requests, second: second.requests }).toEqual({
          first: 0,
          second: 2,
        });
      },
    );

    test('and takes no connection any more, is replaced by one that is named then', async () => {
      await begin();
      await closeServer(first.server);
      expect(await goOn()).toEqual(rest);
      expect(second.requests).toBe(1);
    });

    test('and was replaced while it was read, is not asked again', async () => {
      diesBy(first, answers(502));
      address = overlay.relayUrl(`${overlay.originUrl}/file`, { chains: chainsFrom(entry) }, entry);
      expect(hash((await fetchRaw(address)).body)).toBe(hash(file));
      const { requests } = first;
      expect(await goOn()).toEqual(rest);
      expect(first.requests).toBe(requests);
    });

    test('is not asked where a client begins again', async () => {
      second.tag = '"v2"';
      await begin();
      expect(await ask({})).toEqual({ status: 200, tag: '"v2"', hash: hash(file) });
      expect(await goOn({ 'If-Range': '"v2"' })).toEqual({ ...rest, tag: '"v2"' });
      expect(first.requests).toBe(1);
    });

    test.each([
      ['each next part', (index: number) => index * 10_000],
      ['the first part again and again', () => 0],
    ])('serves %s where more others are named than a master leads one download to', async (_, fromByteOf) => {
      const more = await Promise.all(Array.from({ length: 18 }, startMirror));
      mirrors.push(...more);
      named = [...mirrors];
      const ports = [Number(new URL(overlay.originUrl).port), ...mirrors.map(({ port }) => port)];
      const { depot } = await overlay.addDepot('wide', {
        addresses: { allow: [{ network: '127.0.0.0/8', ports }] },
      });
      onTestFinished(() => depot.close(0));
      const led = new Set<string>();
      overlay.master.onFollowUp = ({ url }) => {
        const { host } = new URL(url);
        if (!led.has(host) && led.size >= 16) return { status: 502, body: {}, code: 'redirect-limit' };
        led.add(host);
        return { status: 200, body: { ticket: overlay.ticket(url, { chains: [['wide']] }) } };
      };
      address = overlay.relayUrl(`${overlay.originUrl}/file`, { chains: [['wide']] }, 'wide');
      for (let index = 0; index < mirrors.length; index += 1) {
        const startByte = fromByteOf(index);
        const part = file.subarray(startByte, startByte + 10_000);
        const answer = await ask({ Range: `bytes=${startByte}-${startByte + part.length - 1}` });
        expect({ index, ...answer }).toEqual({ index, status: 206, tag: '"v1"', hash: hash(part) });
      }
    });
  });
});
