import { createHash, randomBytes } from 'node:crypto';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
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

describe.each(await testPlanes())('with a relay of %s, a mirror that dies in the middle', (_kind, splice) => {
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
  ])('and is gone, is replaced by the one that is named then, over %s', async (_way, isAlone, lanes) => {
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
  });

  test.each([500, 502, 503, 504])(
    'and answers %i, is replaced by the one that is named then',
    async (status) => {
      diesBy(first, answers(status));
      const { body, broken } = await download();
      expect(broken).toBeUndefined();
      expect(hash(body)).toBe(hash(file));
      expect({ redirects, second: second.requests }).toEqual({ redirects: 2, second: 1 });
    },
  );

  test('is never joined with one that has another version', async () => {
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

  test('is waited for where the others have another version', async () => {
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

  test('is asked again where it is named again', async () => {
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
});
