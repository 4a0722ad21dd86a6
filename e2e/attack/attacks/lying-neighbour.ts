import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { HEADERS } from '@longhaul/shared';
import { originBytes } from '../../lab/hosts/origin-content.ts';
import type { Attack } from '../attack.ts';
import { type Ground, requestFor } from '../attacker/ground.ts';
import { pour } from '../attacker/hostile-origin.ts';
import { LIAR_ID, LyingDepot } from '../attacker/lying-depot.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readAnswer, verdictOf } from '../attacker/read-answer.ts';

const FILE_BYTES = 300_000;
const REFUSED = (code: string, more = '') =>
  `HTTP/1.1 502 No\r\n${HEADERS.error}: ${code}\r\n${HEADERS.depot}: liar\r\n${more}Content-Length: 0\r\n\r\n`;
const OPENED = 'HTTP/1.1 200 Connected\r\n\r\n';

/** How a depot treats whoever wants a tunnel through it. */
const LIES: Readonly<Record<string, (socket: Socket, ground: Ground) => unknown>> = {
  silent: () => undefined,
  closed: (socket) => socket.end(),
  reset: (socket) => socket.resetAndDestroy(),
  garbage: (socket) => socket.end('\0\0\0\0 not HTTP at all'),
  'a code that is none': (socket) => socket.end(REFUSED('__proto__')),
  'a code of configuration': (socket) => socket.end(REFUSED('config-invalid')),
  'the blame on another depot': (socket) => socket.end(REFUSED('origin-changed').replace('liar', 'd3')),
  'a page with a script': (socket) => socket.end(REFUSED('<script>', 'Content-Type: text/html\r\n')),
  'patience for ever': (socket) => socket.end(REFUSED('depot-full', 'Retry-After: 99999999999999\r\n')),
  'header lines without end': (socket, ground) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    return pour(ground, socket, 'a:b\r\n'.repeat(1000));
  },
  'interim answers without end': (socket, ground) =>
    pour(ground, socket, 'HTTP/1.1 103 Hints\r\n\r\n'.repeat(100)),
  'a head by drops': (socket, ground) => drip(socket, 'HTTP/1.1 200 Connected\r\nX: ', ground),
  'a tunnel, then silence': (socket) => socket.write(OPENED),
  'a tunnel, then its end': (socket) => socket.end(OPENED),
  'a tunnel, then garbage': (socket) => socket.write(`${OPENED}\0\0\0\0 not HTTP at all\r\n\r\n`),
  'a tunnel, then a part': (socket) =>
    socket.write(
      `${OPENED}HTTP/1.1 200 OK\r\nETag: "${FILE_BYTES}"\r\nAccept-Ranges: bytes\r\nContent-Length: ${FILE_BYTES}\r\n\r\n${originBytes(FILE_BYTES).toString('latin1', 0, 1000)}`,
      'latin1',
      () => setTimeout(() => socket.resetAndDestroy(), 50),
    ),
  'a tunnel, then drops': (socket, ground) => drip(socket, `${OPENED}HTTP/1.1 200 OK\r\nX: `, ground),
};
const NAMES = Object.keys(LIES);

export const LYING_NEIGHBOUR: Attack = {
  name: 'lying-neighbour',
  does: `a depot of the overlay answers its neighbours by ${NAMES.length} kinds of lies: ${NAMES.slice(3, 8).join(', ')} and worse`,
  promise:
    'the entry depot goes on by itself: its clients get the file, or in the end a refusal, and never another file',
  worlds: ['splice', 'streams', 'tls'],
  quick: ['splice'],
  strike: async (ground) => {
    const liar = new LyingDepot(ground);
    let calls = 0;
    await liar.join((socket) => {
      calls += 1;
      const name = NAMES[calls % NAMES.length] ?? '';
      ground.tally.answer(`lie: ${name}`);
      LIES[name]?.(socket, ground);
    });
    await keepAtIt(NAMES.length, ground.signal, (turn) => download(ground, turn));
  },
};

async function download(ground: Ground, turn: number): Promise<void> {
  const scheme = ground.facts.isTls ? 'https' : 'http';
  const via = turn % 2 === 0 ? [LIAR_ID, 'd1'] : ['d2', LIAR_ID, 'd1'];
  const plan = await ground.plan(`${scheme}://popular.files.example${ground.path(FILE_BYTES)}`, { via });
  // Its registration may take effect a moment later.
  if (!plan) await delay(200);
  if (!plan) return;
  ground.tally.case();
  const socket = await ground.open('d1');
  socket.write(requestFor(plan));
  const got = await readAnswer(socket, { patienceMs: 8000 });
  socket.destroy();
  ground.tally.answer(got?.status === 200 ? `file, ${got.end}` : verdictOf(got));
  if (verdictOf(got) === 'internal') ground.tally.broke('a lie is no mistake of the depot', 'internal');
  if (got?.status === 200 && !originBytes(FILE_BYTES).subarray(0, got.body.length).equals(got.body))
    ground.tally.broke(
      'a client never gets another file',
      JSON.stringify(got.body.toString('latin1', 0, 100)),
    );
}

async function drip(socket: Socket, beginning: string, { signal }: Ground): Promise<void> {
  socket.write(beginning);
  while (!signal.aborted && socket.writable) {
    socket.write('x');
    await delay(200);
  }
}
