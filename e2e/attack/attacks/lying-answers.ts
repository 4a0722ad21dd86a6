import fc from 'fast-check';
import type { Attack } from '../attack.ts';
import { explore } from '../attacker/explore.ts';
import { type Ground, requestFor } from '../attacker/ground.ts';
import { startHostileOrigin } from '../attacker/hostile-origin.ts';
import { readAnswer, verdictOf } from '../attacker/read-answer.ts';

const STATUS_LINES = [
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200 OK',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 206 Partial Content',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 304 Not Modified',
  'HTTP/1.1 404 Not Found',
  'HTTP/1.1 500 No',
  'HTTP/1.1 999 Odd',
  'HTTP/1.1 099 Odd',
  'HTTP/1.1 101 Switching Protocols',
  'HTTP/2 200',
  'HTTP/1.1 200',
  'ICY 200 OK',
  '\0\0\0\0',
];
const HEADERS = [
  'Content-Length: 5, 5',
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: -5',
  'Content-Length: 9007199254740993',
  'Content-Length: 0x10',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 3',
  'Content-Range: bytes 0-4/5',
  'Content-Range: bytes 5-4/3',
  'Content-Range: bytes */9007199254740993',
  'Content-Encoding: gzip',
  'Connection: keep-alive',
  'Connection: upgrade\r\nUpgrade: websocket',
  'Trailer: X',
  'Content-Type: text/html\0',
  'Set-Cookie: a=b',
  'longhaul-error: budget-used-up',
  'longhaul-depot: d1',
  'Link: <http://127.0.0.1/>; rel=duplicate; pri=1',
  'Location: http://127.0.0.1/',
  'Retry-After: 99999999999',
  'Date: not a date',
  'Repr-Digest: sha-256=:AAAA:',
  'X: \xff\xfe',
  `X: ${'x'.repeat(3000)}`,
  'no colon at all',
];

const answers = fc.record({
  status: fc.constantFrom(...STATUS_LINES),
  headers: fc.array(fc.constantFrom(...HEADERS), { maxLength: 3 }),
  framing: fc.constantFrom('length', 'chunked', 'none'),
  /** Bytes that come, and how many more, or fewer, are promised. */
  come: fc.constantFrom(0, 1, 5, 1000, 300_000),
  promisedMore: fc.constantFrom(0, 0, 0, 1, 7, 100_000, -1, -3),
  /** Whether the chunks are brought to their end. */
  isEnded: fc.boolean(),
  end: fc.constantFrom('fin', 'reset', 'open'),
});
type Answer = typeof answers extends fc.Arbitrary<infer One> ? One : never;

const BODY = Buffer.alloc(300_000, 'longhaul ');
/** What a client asks for over the same connection afterwards. */
const HONEST_BYTES = 777;
/** The bytes of an answer that a client has no right to get. */
const PATIENCE_MS = 250;

export const LYING_ANSWERS: Attack = {
  name: 'lying-answers',
  does: 'answers depots with status lines, headers, lengths and chunks that contradict each other, too much or too little of a body, and ends of all kinds',
  promise:
    'a client gets what came, or a refusal, or a break; and the next answer of its connection is the right one',
  worlds: ['splice', 'streams'],
  quick: ['splice'],
  meets: ['origin-bad-answer'],
  strike: async (ground) => {
    const given = new Map<string, Answer>();
    await startHostileOrigin(ground, ({ target, socket }) => {
      const answer = given.get(target);
      if (answer) send(socket, answer);
      else socket.destroy();
    });
    await explore(
      ground,
      answers,
      (answer) => JSON.stringify(answer),
      (answer) => tryAnswer(ground, given, answer),
    );
  },
};

async function tryAnswer(
  ground: Ground,
  given: Map<string, Answer>,
  answer: Answer,
): Promise<string | undefined> {
  const path = ground.path(1);
  given.set(path, answer);
  const via = answer.come % 2 === 0 ? ['d2', 'd1'] : ['d1'];
  const [download, honest] = await Promise.all([
    ground.plan(`http://a.hostile.example${path}`, { via }),
    ground.plan(`http://popular.files.example${ground.path(HONEST_BYTES)}`, { via: ['d1'] }),
  ]);
  if (!download || !honest) return undefined;
  const socket = await ground.open('d1');
  socket.write(requestFor(download));
  const got = await readAnswer(socket, { patienceMs: PATIENCE_MS });
  ground.tally.answer(got ? `${verdictOf(got)}, ${got.end}` : 'closed');
  given.delete(path);
  if (verdictOf(got) === 'internal') return 'an answer of an origin is no mistake of the depot';
  if (got && got.status < 400 && got.status !== 304 && !BODY.subarray(0, got.body.length).equals(got.body))
    return 'a client gets no byte that the origin did not send as body';
  if (got?.end === 'framed' && !socket.destroyed) {
    socket.write(requestFor(honest));
    const next = await readAnswer(socket, { begun: got.rest });
    if (next && (next.status !== 200 || next.body.length !== HONEST_BYTES))
      return `the next answer of the connection is the right one, and not ${next.status} of ${next.body.length} bytes`;
  }
  socket.destroy();
  return undefined;
}

function send(socket: import('node:net').Socket, answer: Answer): void {
  const { status, headers, framing, come, promisedMore, isEnded, end } = answer;
  const framed = {
    length: [`Content-Length: ${Math.max(0, come + promisedMore)}`],
    chunked: ['Transfer-Encoding: chunked'],
    none: [],
  }[framing];
  const body = BODY.subarray(0, come);
  socket.write(Buffer.from([status, ...framed, ...headers, '', ''].join('\r\n'), 'latin1'));
  if (framing === 'chunked') {
    if (come > 0)
      socket.write(Buffer.concat([Buffer.from(`${come.toString(16)}\r\n`), body, Buffer.from('\r\n')]));
    if (isEnded) socket.write('0\r\n\r\n');
  } else if (come > 0) socket.write(body);
  if (end === 'fin') socket.end();
  if (end === 'reset') socket.end(() => socket.resetAndDestroy());
}
