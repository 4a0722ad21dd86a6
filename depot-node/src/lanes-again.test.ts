import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const FILE = randomBytes(24_000_000);
const LANES = 4;
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A question for the file, or a part of it, that has been answered. */
interface Given {
  readonly url: string | undefined;
  readonly startByte: number;
  readonly endByte: number;
  readonly socket: Socket;
}

let overlay: TestOverlay;
let given: Given[];
let signatures: number;
/** What an origin does about a question; `gives`: it answers it with what it asks for. */
let manners: (asked: Given) => 'gives' | 'refuses' | 'breaks';
let tagOf: (asked: Given) => string;

/** An origin with one file, and `/signed`, which leads to another address of that each time. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const { headers, socket, url } = request;
  if (url === '/signed') {
    signatures += 1;
    response.writeHead(302, { Location: `/file?signature=${signatures}`, 'Content-Length': 0 }).end();
    return;
  }
  const [, from = '0', to = ''] = /^bytes=([0-9]+)-([0-9]*)$/.exec(headers.range ?? '') ?? [];
  const startByte = Number(from);
  const endByte = to === '' ? FILE.length : Math.min(Number(to) + 1, FILE.length);
  const asked = { url, startByte, endByte, socket };
  const does = manners(asked);
  if (does === 'breaks') {
    socket.destroy();
    return;
  }
  if (does === 'refuses') {
    response.writeHead(403, { 'Content-Length': 0 }).end();
    return;
  }
  given.push(asked);
  response.writeHead(headers.range === undefined ? 200 : 206, {
    'Accept-Ranges': 'bytes',
    ETag: tagOf(asked),
    'Content-Length': endByte - startByte,
    ...(headers.range === undefined
      ? {}
      : { 'Content-Range': `bytes ${startByte}-${endByte - 1}/${FILE.length}` }),
  });
  response.end(FILE.subarray(startByte, endByte));
}

const isBlock = ({ startByte, endByte }: Given) => endByte < FILE.length || startByte > FILE.length / 2;
const signatureOf = ({ url }: Given) => Number(/signature=([0-9]+)$/.exec(url ?? '')?.[1] ?? 0);
const connectionsOf = (answers: readonly Given[]) => new Set(answers.map(({ socket }) => socket)).size;

describe.each(await testPlanes())('a download whose lanes end, over %s,', (_plane, splice) => {
  beforeEach(async () => {
    given = [];
    signatures = 0;
    manners = () => 'gives';
    tagOf = () => '"v1"';
    overlay = await startTestOverlay(['d1', 'd2'], answer, splice, { config: { lanes: { tries: 1 } } });
    return () => overlay.close();
  });
  afterAll(() => splice?.close());

  const urlOf = (path: string) =>
    overlay.relayUrl(overlay.originUrl + path, { chains: [['d1', 'd2'], ['d1']], lanes: LANES });
  const download = async (path: string) => {
    const { body, broken } = await fetchRaw(urlOf(path));
    expect(broken).toBeUndefined();
    expect(hash(body)).toBe(hash(FILE));
  };
  const failovers = () => overlay.depot('d1').events.filter(({ type }) => type === 'failover');
  const stateNow = () => overlay.depot('d1').depot.downloads()[0]?.state.is;

  test('goes on over lanes, and its chain, at the next signed address when one has lapsed', async () => {
    manners = (asked) => (signatureOf(asked) > 1 || given.length < 8 ? 'gives' : 'refuses');
    await download('/signed');
    const last = given.filter((asked) => signatureOf(asked) === signatures);
    expect(connectionsOf(last)).toBeGreaterThan(1);
    expect(failovers()).toMatchObject([{ reason: 'refused', from: ['d1', 'd2'], to: ['d1', 'd2'] }]);

    manners = () => 'gives';
    given = [];
    await download('/signed');
    expect(connectionsOf(given), 'the next download').toBeGreaterThan(1);
  });

  test('goes on over lanes when an origin that was away is back', async () => {
    let isAway = false;
    manners = () => {
      isAway ||= given.length === 8;
      return isAway ? 'breaks' : 'gives';
    };
    const whole = download('/file');
    await expect.poll(stateNow, { timeout: 30_000, interval: 5 }).toBe('repairing');
    manners = () => 'gives';
    const before = given.length;
    await whole;
    expect(connectionsOf(given.slice(before))).toBeGreaterThan(1);
  });

  test('asks for all of its rest where that has come no further over lanes that had begun again', async () => {
    const answers = new Map<number, number>();
    manners = (asked) => {
      const signature = signatureOf(asked);
      const before = answers.get(signature) ?? 0;
      answers.set(signature, before + 1);
      return before < 6 ? 'gives' : 'refuses';
    };
    await download('/signed');
    const last = given.filter((asked) => signatureOf(asked) === signatures);
    expect(last.map(({ endByte }) => endByte)).toEqual([FILE.length]);
    expect(new Set(given.map(signatureOf)).size, 'addresses').toBeLessThanOrEqual(4);
  });

  test('asks for all of its rest where the address itself refuses blocks', async () => {
    manners = (asked) => (given.length < 8 || !isBlock(asked) ? 'gives' : 'refuses');
    await download('/file');
    expect(given.slice(8).map(({ endByte }) => endByte)).toEqual([FILE.length]);
    expect(failovers(), 'no block is asked for again').toMatchObject([{ to: ['d1', 'd2'] }]);
  });

  test('asks for all of its rest where the next address refuses blocks, too', async () => {
    manners = (asked) => {
      const isGiven = signatureOf(asked) === 1 ? given.length < 8 : !isBlock(asked);
      return isGiven ? 'gives' : 'refuses';
    };
    await download('/signed');
    expect(given.slice(8).map(({ endByte }) => endByte)).toEqual([FILE.length]);
    expect(failovers(), 'nothing comes again').toMatchObject([{ isAgain: false }]);
  });

  test('is reset where the next address has another version', async () => {
    manners = (asked) => (signatureOf(asked) > 1 || given.length < 8 ? 'gives' : 'refuses');
    tagOf = (asked) => (signatureOf(asked) > 1 ? '"v2"' : '"v1"');
    const { body, broken } = await fetchRaw(urlOf('/signed'));
    expect(broken).toBe('ECONNRESET');
    expect(hash(body)).toBe(hash(FILE.subarray(0, body.length)));
    expect(body.length).toBeLessThan(FILE.length);
  });
});
