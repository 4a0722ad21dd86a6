import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const FILE = randomBytes(3_000_000);
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
/** Longer than a way over loopback could ever take. */
const THINKS_MS = 400;

let overlay: TestOverlay;
let asked: (string | undefined)[];
/** Before each answer, by the number of its request. */
let before: (number: number, response: ServerResponse) => Promise<boolean>;

async function answer({ headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  asked.push(headers.range);
  if (!(await before(asked.length, response))) return;
  const [, from = '0', to = ''] = /^bytes=([0-9]+)-([0-9]*)$/.exec(headers.range ?? '') ?? [];
  const end = to === '' ? FILE.length : Math.min(Number(to) + 1, FILE.length);
  response.writeHead(headers.range === undefined ? 200 : 206, {
    'Accept-Ranges': 'bytes',
    'Content-Length': end - Number(from),
    ETag: '"v1"',
    ...(headers.range === undefined ? {} : { 'Content-Range': `bytes ${from}-${end - 1}/${FILE.length}` }),
  });
  response.end(FILE.subarray(Number(from), end));
}

const refuse = (status: number, response: ServerResponse) => {
  response.writeHead(status, { 'Content-Length': 0 });
  response.end();
  return false;
};

const download = () =>
  fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file`, { chains: [['d1', 'd2'], ['d1']], lanes: 4 }, 'd1'));

describe.each(await testPlanes())(
  'lanes from an origin that blocks are bad for, over %s,',
  (_plane, splice) => {
    beforeEach(async () => {
      asked = [];
      before = async () => true;
      overlay = await startTestOverlay(
        ['d1', 'd2'],
        (request, response) => void answer(request, response),
        splice,
      );
      return () => overlay.close();
    });
    afterAll(() => splice?.close());

    test('are one, which asks for the rest at once, where it thinks before each answer; the next download asks for all', async () => {
      before = async () => {
        await delay(THINKS_MS);
        return true;
      };
      const first = await download();
      expect(hash(first.body)).toBe(hash(FILE));
      expect(asked).toHaveLength(2);
      const second = await download();
      expect(hash(second.body)).toBe(hash(FILE));
      expect(asked.slice(2)).toEqual([undefined]);
    });

    test('become one that asks for much, where it counts requests', async () => {
      before = async (number, response) => (number > 4 && number <= 10 ? refuse(429, response) : true);
      const { body } = await download();
      expect(hash(body)).toBe(hash(FILE));
      expect(asked.length).toBeLessThan(20);
      before = async () => true;
      asked = [];
      expect(hash((await download()).body)).toBe(hash(FILE));
      expect(asked).toEqual([undefined]);
    });

    test('end with the whole file where it counts connections', async () => {
      let open = 0;
      before = async (_, response) => {
        if (open >= 2) return refuse(503, response);
        open += 1;
        response.once('finish', () => {
          open -= 1;
        });
        return true;
      };
      expect(hash((await download()).body)).toBe(hash(FILE));
    });
  },
);
