import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';
import { unstalledMs } from './testing/unstalled-clock.ts';

const FILE = randomBytes(12_000_000);
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
/** Longer than a way over loopback could ever take, also where the machine is busy while it is made: by its clock. */
const THINKS_MS = 1000;
const FIRST_BLOCK = expect.stringMatching(/^bytes=0-[0-9]+$/);

let overlay: TestOverlay;
let asked: (string | undefined)[];
/** Before each answer, by the number of its request. */
let before: (number: number, response: ServerResponse) => Promise<boolean>;

/** The validator of an answer, by the number of its request. */
let tagOf: (number: number) => string | undefined;

/** Bytes per second that one answer has; all at once where it is not bounded. */
let bytesPerSecond: number;

async function answer({ headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  asked.push(headers.range);
  const [, from = '0', to = ''] = /^bytes=([0-9]+)-([0-9]*)$/.exec(headers.range ?? '') ?? [];
  const end = to === '' ? FILE.length : Math.min(Number(to) + 1, FILE.length);
  const part = FILE.subarray(Number(from), end);
  if (!(await before(asked.length, response))) return;
  response.writeHead(headers.range === undefined ? 200 : 206, {
    'Accept-Ranges': 'bytes',
    'Content-Length': part.length,
    ...validatorOf(tagOf(asked.length), headers.range !== undefined),
    ...(headers.range === undefined ? {} : { 'Content-Range': `bytes ${from}-${end - 1}/${FILE.length}` }),
  });
  const step = Math.ceil(Math.min(part.length, bytesPerSecond / 50));
  for (let at = 0; at < part.length && !response.destroyed; at += step) {
    if (at > 0) await delay(20);
    response.write(part.subarray(at, at + step));
  }
  response.end();
}

/** A tag, or the date of the last change, which parts lack. */
function validatorOf(tag: string | undefined, isPart: boolean): Record<string, string> {
  if (tag !== undefined) return { ETag: tag };
  return isPart ? {} : { 'Last-Modified': 'Wed, 01 Jan 2025 00:00:00 GMT' };
}

async function think(): Promise<true> {
  const beganAtMs = unstalledMs();
  while (unstalledMs() - beganAtMs < THINKS_MS) await delay(10);
  return true;
}

const refuse = (status: number, response: ServerResponse) => {
  response.writeHead(status, { 'Content-Length': 0 });
  response.end();
  return false;
};

const download = (chains = [['d1', 'd2'], ['d1']]) =>
  fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file`, { chains, lanes: 4 }, 'd1'));

describe.each(await testPlanes())(
  'lanes from an origin that blocks are bad for, over %s,',
  (_plane, splice) => {
    beforeEach(async () => {
      asked = [];
      before = async () => true;
      tagOf = () => '"v1"';
      bytesPerSecond = Number.POSITIVE_INFINITY;
      overlay = await startTestOverlay(
        ['d1', 'd2'],
        (request, response) => void answer(request, response),
        splice,
      );
      return () => overlay.close();
    });
    afterAll(() => splice?.close());

    test('are none where it thinks before each answer: it is asked for all, and once for a block', async () => {
      before = think;
      const first = await download();
      expect(hash(first.body)).toBe(hash(FILE));
      expect(asked).toEqual([undefined, FIRST_BLOCK]);
      const second = await download();
      expect(hash(second.body)).toBe(hash(FILE));
      expect(asked.slice(2)).toEqual([undefined]);
    });

    test('are as many as before where its first answer alone is late, as that of a cache that has not got the file yet', async () => {
      before = async (number) => {
        if (number === 1) await think();
        return true;
      };
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(asked.length, 'questions for the whole, and for blocks').toBeGreaterThan(2);
      asked = [];
      // Of a folder that is known to give blocks the first of them is asked for at once.
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(asked.slice(0, 2), 'a late block is asked for again').toEqual([FIRST_BLOCK, FIRST_BLOCK]);
      expect(asked.length, 'questions for blocks').toBeGreaterThan(3);
      asked = [];
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(asked.length, 'questions for blocks').toBeGreaterThan(2);
    });

    test('are as many as before over other ways than the one whose answers are kept back', async () => {
      before = think;
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(asked).toEqual([undefined, FIRST_BLOCK]);
      before = async () => true;
      asked = [];
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(asked).toEqual([undefined]);
      asked = [];
      expect(hash((await download([['d1']])).body)).toBe(hash(FILE));
      expect(asked.length, 'questions for the whole, and for blocks').toBeGreaterThan(2);
    });

    test('are as many as before for others, whatever conditions one client has of his own', async () => {
      const url = overlay.relayUrl(`${overlay.originUrl}/file`, { chains: [['d1', 'd2']], lanes: 4 }, 'd1');
      const odd = await fetchRaw(url, { headers: { 'If-Range': '"another"' } });
      expect(hash(odd.body)).toBe(hash(FILE));
      expect(asked).toEqual([undefined]);
      asked = [];
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(asked.length, 'questions for the whole, and for blocks').toBeGreaterThan(2);
    });

    test('fetch the rest of what a client resumes that names the version, as Firefox does', async () => {
      const url = overlay.relayUrl(`${overlay.originUrl}/file`, { chains: [['d1', 'd2']], lanes: 4 }, 'd1');
      const headers = { Range: 'bytes=1000000-', 'If-Match': '"v1"' };
      const resumed = await fetchRaw(url, { headers });
      expect(resumed.status).toBe(206);
      expect(hash(resumed.body)).toBe(hash(FILE.subarray(1_000_000)));
      expect(asked.length, 'questions for the rest, and for blocks').toBeGreaterThan(2);
    });

    test('are one, which asks for the rest at once, where it has begun to think before each answer', async () => {
      expect(hash((await download()).body)).toBe(hash(FILE));
      asked = [];
      before = think;
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(asked, 'a block, the same again, and the rest').toHaveLength(3);
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(asked.slice(3)).toEqual([undefined]);
    });

    test('become one that asks for much, where it counts requests', async () => {
      bytesPerSecond = 8_000_000;
      const beganMs = unstalledMs();
      let given = 0;
      // Eight at first, then two each second by the depots' clock: none for time that the machine has taken.
      before = async (_number, response) => {
        if (given >= 8 + (unstalledMs() - beganMs) / 500) return refuse(429, response);
        given += 1;
        return true;
      };
      const { body } = await download();
      expect(hash(body)).toBe(hash(FILE));
      expect(given, 'requests that were answered').toBeLessThan(16);
      before = async () => true;
      asked = [];
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(asked).toEqual([undefined]);
    });

    test('are none where each answer has another tag: the first one brings all', async () => {
      bytesPerSecond = 40_000_000;
      tagOf = (number) => `"v${number}"`;
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(asked).toEqual([undefined, FIRST_BLOCK]);
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(asked.slice(2)).toEqual([undefined]);
    });

    test('are none where the file is being written: the first answer is all of it so far', async () => {
      const ask = (name: string) =>
        fetchRaw(overlay.relayUrl(`${overlay.originUrl}/logs/${name}`, { lanes: 4 }, 'd1'));
      before = async (_number, response) => {
        if (response.req.url !== '/logs/old') response.setHeader('Last-Modified', new Date().toUTCString());
        return true;
      };
      let growsFrom = 3;
      tagOf = (number) => `"v${Math.max(growsFrom, number)}"`;
      expect(hash((await ask('new')).body)).toBe(hash(FILE));
      expect(asked).toEqual([undefined]);
      growsFrom = Number.POSITIVE_INFINITY;
      expect(hash((await ask('old')).body)).toBe(hash(FILE));
      growsFrom = asked.length + 3;
      expect(hash((await ask('new')).body), 'where a folder has given blocks').toBe(hash(FILE));
      expect(asked.slice(-2)).toEqual([FIRST_BLOCK, undefined]);
    });

    test('are none where parts do not say of which version they are', async () => {
      bytesPerSecond = 40_000_000;
      tagOf = () => undefined;
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(asked).toEqual([undefined, FIRST_BLOCK]);
    });

    test.each([403, 404, 410, 429, 500, 503])(
      'are none where a link is good for one answer, and %i for more: that one brings all',
      async (status) => {
        bytesPerSecond = 40_000_000;
        before = async (number, response) => number === 1 || refuse(status, response);
        expect(hash((await download()).body)).toBe(hash(FILE));
        expect(asked[0]).toBeUndefined();
      },
    );

    test.each([
      [403, 3],
      [404, 6],
      [410, 12],
    ])(
      'end with the whole that was answered first, where a link is good for some answers, and %i for more than %i',
      async (status, answers) => {
        bytesPerSecond = 8_000_000;
        before = async (number, response) => number <= answers || refuse(status, response);
        const { status: given, body, broken } = await download([['d1']]);
        expect({ given, broken }).toEqual({ given: 200, broken: undefined });
        expect(hash(body)).toBe(hash(FILE));
        expect(asked.filter((range) => range === undefined)).toHaveLength(1);
      },
    );

    test('end with the version that they began with, where another one takes its place', async () => {
      bytesPerSecond = 8_000_000;
      tagOf = (number) => (number <= 5 ? '"v1"' : '"v2"');
      expect(hash((await download([['d1']])).body)).toBe(hash(FILE));
      expect(asked.length, 'questions for blocks').toBeGreaterThan(2);
    });

    test('are as many as an origin takes connections, the one of the whole among them', async () => {
      bytesPerSecond = 2_000_000;
      const lanes = new Set<unknown>();
      const taken = new Set<unknown>();
      let mostLanes = 0;
      before = async (number, response) => {
        const { socket } = response.req;
        if (!taken.has(socket) && taken.size >= 3) return refuse(503, response);
        taken.add(socket);
        if (number > 1) lanes.add(socket);
        mostLanes = Math.max(mostLanes, lanes.size);
        socket.once('close', () => {
          taken.delete(socket);
          lanes.delete(socket);
        });
        return true;
      };
      expect(hash((await download([['d1']])).body)).toBe(hash(FILE));
      expect(mostLanes).toBe(3);
    });

    test.each([
      ['its query', 'file?X-Amz-Expires=60&X-Amz-Signature=ab'],
      ['its path', `exp=1764288000~hmac=${'ab'.repeat(32)}/file`],
    ])(
      'are none from an address signed in %s: one question is answered to its end, a later one may be refused',
      async (_, path) => {
        const signed = `${overlay.originUrl}/${path}`;
        // As good as known to give blocks.
        const other = overlay.relayUrl(
          `${overlay.originUrl}/other`,
          { chains: [['d1', 'd2']], lanes: 4 },
          'd1',
        );
        await fetchRaw(other);
        asked = [];
        before = async (number, response) => number <= 3 || refuse(403, response);
        const url = overlay.relayUrl(signed, { chains: [['d1', 'd2'], ['d1']], lanes: 4 }, 'd1');
        const { status, body } = await fetchRaw(url);
        expect(status).toBe(200);
        expect(hash(body)).toBe(hash(FILE));
        expect(asked).toEqual([undefined]);
      },
    );

    test('come from a signed address that another one leads to, which is asked for the next when it lapses', async () => {
      let signatures = 0;
      let answers = 0;
      before = async (_number, response) => {
        const of = /sig=([0-9]+)$/.exec(response.req.url ?? '')?.[1];
        if (of === undefined) {
          signatures += 1;
          answers = 0;
          response.writeHead(302, { Location: `/file?sig=${signatures}`, 'Content-Length': 0 }).end();
          return false;
        }
        answers += 1;
        return (Number(of) === signatures && (signatures > 1 || answers <= 4)) || refuse(403, response);
      };
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(signatures).toBeGreaterThan(1);
      expect(asked.length, 'questions for blocks').toBeGreaterThan(4);
    });

    test('are none where it answers nobody beside the one who has the file', async () => {
      bytesPerSecond = 8_000_000;
      let turn: Promise<unknown> = Promise.resolve();
      before = async (_number, response) => {
        const mine = turn;
        turn = once(response, 'close');
        await mine;
        return !response.destroyed;
      };
      expect(hash((await download()).body)).toBe(hash(FILE));
    });

    test('go on from where a client has come, and are none where the answer to that is the only one', async () => {
      bytesPerSecond = 40_000_000;
      const rest = () =>
        fetchRaw(
          overlay.relayUrl(`${overlay.originUrl}/file`, { chains: [['d1', 'd2'], ['d1']], lanes: 4 }, 'd1'),
          {
            headers: { Range: 'bytes=1000000-' },
          },
        );
      before = async (number, response) => number === 1 || refuse(403, response);
      const { status, body } = await rest();
      expect(status).toBe(206);
      expect(hash(body)).toBe(hash(FILE.subarray(1_000_000)));
    });

    test('end with the whole file where it counts connections', async () => {
      let open = 0;
      before = async (_, response) => {
        if (open >= 2) return refuse(503, response);
        open += 1;
        response.once('close', () => {
          open -= 1;
        });
        return true;
      };
      expect(hash((await download()).body)).toBe(hash(FILE));
    });
  },
);
