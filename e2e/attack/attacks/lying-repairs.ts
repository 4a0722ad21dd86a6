import fc from 'fast-check';
import { sampleBytes } from '../../overlay/sample-bytes.ts';
import type { Attack } from '../attack.ts';
import { explore } from '../attacker/explore.ts';
import { type Ground, requestFor } from '../attacker/ground.ts';
import { rangeOf, type SeenRequest, startHostileOrigin } from '../attacker/hostile-origin.ts';
import { readAnswer } from '../attacker/read-answer.ts';

const SIZE_BYTES = 600_000;
/** Two versions of one file, which a client must never get pieces of both. */
const RIGHT = sampleBytes(SIZE_BYTES, 1);
const OTHER = sampleBytes(SIZE_BYTES, 2);
/** Tried at the same time: most of a case is waiting. */
const AT_ONCE = 30;
const PATIENCE_MS = 1000;

/** How the rest is answered that a depot asks for after a break. */
const LIES = [
  'right',
  'other-version',
  'other-bytes-unnamed',
  'whole-other',
  'other-range',
  'other-total',
  'short-length',
  'long-body',
  'chunked-other',
  'gone',
  'busy',
  'garbage',
  'weak',
] as const;

/**
 * Those that are told of a part alone: the whole of the length and under the strong name that were told at
 * first is that file, whatever it is.
 */
const LIES_OF_PARTS: ReadonlySet<string> = new Set(['other-range', 'short-length']);

const file = fc.record({
  cutAt: fc.integer({ min: 0, max: SIZE_BYTES - 1 }),
  cutBy: fc.constantFrom('fin', 'reset'),
  validator: fc.constantFrom(
    'ETag: "1"',
    'ETag: "1"',
    'ETag: W/"1"',
    'Last-Modified: Sun, 01 Nov 2020 12:00:00 GMT',
    'X: none',
  ),
  lies: fc.array(fc.constantFrom(...LIES), { minLength: 1, maxLength: 4 }),
  isLaned: fc.boolean(),
});
type File = typeof file extends fc.Arbitrary<infer One> ? One : never;

interface Served {
  readonly file: File;
  readonly isCut: WeakSet<SeenRequest['socket']>;
  answered: number;
}

export const LYING_REPAIRS: Attack = {
  name: 'lying-repairs',
  does: 'breaks files off at any byte, and lies when the rest is asked for: another version, range, total or length, other bytes, garbage',
  promise: 'bytes of two versions are never joined, and a short file never looks whole',
  worlds: ['splice', 'streams'],
  quick: ['splice'],
  strike: async (ground) => {
    const served = new Map<string, Served>();
    await startHostileOrigin(ground, (request) => {
      const known = served.get(request.target);
      // Behind a body that is cut off, answers to what was asked ahead would be bytes of that body.
      if (known?.isCut.has(request.socket) === true) return;
      if (known) answer(request, known);
      else request.socket.destroy();
    });
    const batches = fc.array(file, { minLength: 1, maxLength: AT_ONCE });
    await explore(
      ground,
      batches,
      (files) => JSON.stringify(files),
      async (files) => {
        const broken = await Promise.all(files.map((one) => tryFile(ground, served, one)));
        return broken.find((promise) => promise !== undefined);
      },
    );
  },
};

async function tryFile(ground: Ground, served: Map<string, Served>, one: File): Promise<string | undefined> {
  const path = ground.path(SIZE_BYTES);
  served.set(path, { file: one, isCut: new WeakSet(), answered: 0 });
  const options = { via: one.cutAt % 2 === 0 ? ['d2', 'd1'] : ['d1'], ...(one.isLaned ? { lanes: 3 } : {}) };
  const download = await ground.plan(`http://a.hostile.example${path}`, options);
  if (!download) return undefined;
  const socket = await ground.open('d1');
  socket.write(requestFor(download));
  const got = await readAnswer(socket, { patienceMs: PATIENCE_MS });
  socket.destroy();
  served.delete(path);
  const isWhole = got?.status === 200 && got.end === 'framed';
  ground.tally.answer(isWhole ? 'whole' : (got?.end ?? 'closed'));
  if (!got || got.status !== 200) return undefined;
  if (isWhole && got.body.length !== SIZE_BYTES) return 'a short file never looks whole';
  const isOne = [RIGHT, OTHER].some((version) => version.subarray(0, got.body.length).equals(got.body));
  return isOne ? undefined : 'bytes of two versions are never joined';
}

function answer(request: SeenRequest, served: Served): void {
  const { file: one } = served;
  const range = rangeOf(request);
  const from = range?.first ?? 0;
  const to = range?.last ?? SIZE_BYTES - 1;
  const lie = served.answered === 0 ? 'first' : (one.lies[served.answered - 1] ?? 'gone');
  served.answered += 1;
  const { socket } = request;
  const send = (
    headers: readonly string[],
    body: Buffer,
    status = range ? '206 Partial Content' : '200 OK',
  ) => {
    socket.write([`HTTP/1.1 ${status}`, ...headers, '', ''].join('\r\n'));
    socket.write(body);
  };
  const headersOf = (validator: string, length = to - from + 1, start = from, total = SIZE_BYTES) => [
    validator,
    'Accept-Ranges: bytes',
    `Date: ${new Date().toUTCString()}`,
    `Content-Length: ${length}`,
    ...(range ? [`Content-Range: bytes ${start}-${start + length - 1}/${total}`] : []),
  ];
  const isDated = one.validator.startsWith('Last');
  // Behind a date a 206 need not repeat it (RFC 9110 section 15.3.7): who then lies cannot be told from who does not.
  const unnamed = isDated ? RIGHT : OTHER;
  // Where the client may have nothing yet, over lanes also not what one of them brought, a whole of another
  // length is another file, and may be given.
  const mayBegin = one.cutAt === 0 || one.isLaned;
  const isOfPart = LIES_OF_PARTS.has(lie) || (lie === 'other-total' && mayBegin);
  const lieAsked = range || !isOfPart ? lie : 'right';
  switch (lieAsked) {
    case 'first':
      served.isCut.add(socket);
      send(headersOf(one.validator), RIGHT.subarray(from, Math.max(from, Math.min(one.cutAt, to + 1))));
      setTimeout(() => (one.cutBy === 'fin' ? socket.end() : socket.resetAndDestroy()), 20);
      break;
    case 'right':
      send(headersOf(one.validator), RIGHT.subarray(from, to + 1));
      break;
    case 'other-version':
      send(
        headersOf(isDated ? 'Last-Modified: Mon, 02 Nov 2020 12:00:00 GMT' : 'ETag: "2"'),
        OTHER.subarray(from, to + 1),
      );
      break;
    case 'weak':
      send(headersOf('ETag: W/"1"'), unnamed.subarray(from, to + 1));
      break;
    case 'other-bytes-unnamed':
      send(headersOf('X: none'), unnamed.subarray(from, to + 1));
      break;
    case 'whole-other':
      send(['ETag: "2"', `Content-Length: ${SIZE_BYTES}`], OTHER, '200 OK');
      break;
    case 'other-range':
      send(headersOf(one.validator, to - from + 1, from + 1), OTHER.subarray(from, to + 1));
      break;
    case 'other-total':
      if (range)
        send(headersOf(one.validator, to - from + 1, from, SIZE_BYTES + 1), OTHER.subarray(from, to + 1));
      else send(headersOf(one.validator, SIZE_BYTES + 1), Buffer.concat([OTHER, OTHER.subarray(0, 1)]));
      break;
    case 'short-length':
      send(headersOf(one.validator, Math.max(1, to - from)), RIGHT.subarray(from, to));
      break;
    case 'long-body':
      send(headersOf(one.validator), Buffer.concat([RIGHT.subarray(from, to + 1), OTHER]));
      break;
    case 'chunked-other':
      send(
        ['ETag: "2"', 'Transfer-Encoding: chunked'],
        Buffer.concat([Buffer.from(`${SIZE_BYTES.toString(16)}\r\n`), OTHER]),
      );
      break;
    case 'gone':
      send(['Content-Length: 0'], Buffer.alloc(0), '404 Not Found');
      break;
    case 'busy':
      send(['Content-Length: 0', 'Retry-After: 1'], Buffer.alloc(0), '503 Busy');
      break;
    case 'garbage':
      socket.end('HTTP/1.1 206 \0\r\nContent-Range: bytes\r\n\r\n');
      break;
  }
}
