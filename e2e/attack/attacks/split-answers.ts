import type { Attack } from '../attack.ts';
import { type Ground, requestFor } from '../attacker/ground.ts';
import { rangeOf, type SeenRequest, startHostileOrigin } from '../attacker/hostile-origin.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readAnswer } from '../attacker/read-answer.ts';

const SIZE_BYTES = 1_000_000;
const FIRST_BYTES = 10_000;
const HONEST_BYTES = 555;
/** What the origin wants the client to take for the answer to its next request. */
const FORGED = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged';
const BODY = Buffer.alloc(SIZE_BYTES, FORGED);

/**
 * How the first answer of a file and the rest of it are framed; each way has once put bytes past the frame of
 * the client's.
 */
const WAYS = {
  /** A chunked part that breaks; the rest comes with a length, long enough for the relay of the kernel. */
  'chunked, then a length': (request: SeenRequest) => {
    const range = rangeOf(request);
    const from = range?.first ?? 0;
    if (from === 0) beginChunked(request);
    else sendRest(request, from);
  },
  /** The other way round. */
  'a length, then chunked': (request: SeenRequest) => {
    const from = rangeOf(request)?.first ?? 0;
    if (from === 0) beginWithLength(request);
    else sendRestChunked(request, from);
  },
  /** A length beyond what numbers hold, and a body that goes on. */
  'a length of 16 digits': ({ socket }: SeenRequest) => {
    socket.write(
      `HTTP/1.1 206 Partial Content\r\nETag: "1"\r\nContent-Range: bytes 0-4/5\r\nContent-Length: 9007199254740993\r\n\r\nhello${FORGED}`,
    );
  },
  /** A status without a body, that has one. */
  'no content, with a length': ({ socket }: SeenRequest) => {
    socket.write(`HTTP/1.1 204 No Content\r\nContent-Length: ${FORGED.length}\r\n\r\n${FORGED}`);
  },
  /** A part that says less than comes. */
  'more than the range': ({ socket }: SeenRequest) => {
    socket.write(
      `HTTP/1.1 206 Partial Content\r\nETag: "1"\r\nContent-Range: bytes 0-4/5\r\nContent-Length: ${5 + FORGED.length}\r\n\r\nhello${FORGED}`,
    );
  },
} as const;

export const SPLIT_ANSWERS: Attack = {
  name: 'split-answers',
  does: `frames one body in two ways (${Object.keys(WAYS).join('; ')}), so that its rest might be taken for the next answer`,
  promise: 'what a client gets over one connection keeps its frames: the next answer is the right one',
  worlds: ['splice', 'streams'],
  quick: ['splice'],
  strike: async (ground) => {
    const names = Object.keys(WAYS) as (keyof typeof WAYS)[];
    await startHostileOrigin(ground, (request) => {
      const way = names[Number(/way-([0-9])/.exec(request.target)?.[1])];
      if (way) WAYS[way](request);
    });
    await keepAtIt(2, ground.signal, async (turn) => {
      const index = turn % names.length;
      const broken = await tryWay(ground, index, turn % 2 === 0 ? ['d2', 'd1'] : ['d1'], turn % 3 !== 0);
      if (broken !== undefined) ground.tally.broke(broken, names[index] ?? '');
    });
  },
};

async function tryWay(
  ground: Ground,
  way: number,
  via: readonly string[],
  asksForAll: boolean,
): Promise<string | undefined> {
  const path = ground.path(SIZE_BYTES).replace('asked', `way-${way}-asked`);
  const [download, honest] = await Promise.all([
    ground.plan(`http://a.hostile.example${path}`, { via }),
    ground.plan(`http://popular.files.example${ground.path(HONEST_BYTES)}`, { via: ['d1'] }),
  ]);
  if (!download || !honest) return undefined;
  ground.tally.case();
  const socket = await ground.open('d1');
  // Both requests at once, as a client does that has faith in its frames.
  socket.write(requestFor(download, asksForAll ? ['Range: bytes=0-'] : []));
  const first = await readAnswer(socket, { patienceMs: 1500 });
  ground.tally.answer(first ? `${first.status}, ${first.end}` : 'closed');
  let broken: string | undefined;
  if (first && first.status < 300 && !isBeginning(first.body)) broken = 'a client gets the bytes of the file';
  if (first?.end === 'framed' && !socket.destroyed) {
    socket.write(requestFor(honest));
    const next = await readAnswer(socket, { begun: first.rest });
    if (next && next.body.length !== HONEST_BYTES)
      broken = `the next answer is the right one, and not '${next.body.toString('latin1', 0, 20)}'`;
  }
  socket.destroy();
  return broken;
}

/** The bodies here are pieces of the file, or its first five bytes in other words. */
function isBeginning(body: Buffer): boolean {
  return BODY.subarray(0, body.length).equals(body) || body.equals(Buffer.from('hello')) || body.length === 0;
}

function part(from: number): string {
  return `ETag: "1"\r\nContent-Range: bytes ${from}-${SIZE_BYTES - 1}/${SIZE_BYTES}\r\n`;
}

function beginChunked({ socket }: SeenRequest): void {
  const chunk = BODY.subarray(0, FIRST_BYTES);
  socket.write(
    `HTTP/1.1 206 Partial Content\r\n${part(0)}Transfer-Encoding: chunked\r\n\r\n${FIRST_BYTES.toString(16)}\r\n`,
  );
  socket.write(Buffer.concat([chunk, Buffer.from('\r\n')]), () =>
    setTimeout(() => socket.resetAndDestroy(), 50),
  );
}

function beginWithLength({ socket }: SeenRequest): void {
  socket.write(`HTTP/1.1 206 Partial Content\r\n${part(0)}Content-Length: ${SIZE_BYTES}\r\n\r\n`);
  socket.write(BODY.subarray(0, FIRST_BYTES), () => setTimeout(() => socket.resetAndDestroy(), 50));
}

function sendRest({ socket }: SeenRequest, from: number): void {
  socket.write(`HTTP/1.1 206 Partial Content\r\n${part(from)}Content-Length: ${SIZE_BYTES - from}\r\n\r\n`);
  socket.write(BODY.subarray(from));
}

function sendRestChunked({ socket }: SeenRequest, from: number): void {
  const rest = BODY.subarray(from);
  socket.write(
    `HTTP/1.1 206 Partial Content\r\n${part(from)}Transfer-Encoding: chunked\r\n\r\n${rest.length.toString(16)}\r\n`,
  );
  socket.write(Buffer.concat([rest, Buffer.from('\r\n0\r\n\r\n')]));
}
