import fc from 'fast-check';
import type { Attack } from '../attack.ts';
import { explore } from '../attacker/explore.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

/** Spellings that some parser takes for something else. */
const BITS = [
  '/',
  '//',
  '/./',
  '/../',
  '/%2e%2e/',
  '%2f',
  '%5c',
  '\\',
  '%00',
  '%0d%0a',
  '@inner.example',
  ':80',
  '#',
  '?',
  '&',
  ';',
  '=',
  '+',
  '%3F',
  '%26server=127.0.0.1',
  '&server=127.0.0.1',
  '&server=',
  '&port=22',
  '&scheme=https',
  '&query=x',
  '&query=%23',
  '&depot=d2&port=8080',
  '&unknown=1',
];
const SERVERS = [
  'other.files.example',
  'POPULAR.files.example',
  'popular.files.example.',
  'popular%2efiles.example',
  '127.0.0.1',
  '0x7f.1',
  '2130706433',
  '[::1]',
  '[::ffff:127.0.0.1]',
  'popular.files.example@127.0.0.1',
  '127.0.0.1%23.files.example',
];

const changes = fc.record({
  /** Where something is put into the request target, as a part of its length. */
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  bit: fc.constantFrom('', ...BITS),
  server: fc.option(fc.constantFrom(...SERVERS), { freq: 3, nil: undefined }),
  port: fc.option(fc.constantFrom('080', '22', '0', '65536', '8080', '+80', '80 '), {
    freq: 4,
    nil: undefined,
  }),
  /** An absolute form, as proxies get it. */
  front: fc.constantFrom(
    '',
    '',
    '',
    'http://popular.files.example',
    'http://127.0.0.1',
    'http:',
    '//127.0.0.1',
    '*',
  ),
});

export const URL_CONFUSION: Attack = {
  name: 'url-confusion',
  does: 'asks by a good ticket for targets that some parser would read as another host, path, port or query',
  promise: 'a depot fetches the URL of the ticket or nothing',
  worlds: ['splice'],
  quick: ['splice'],
  meets: ['ticket-wrong-url', 'ticket-wrong-authority', 'parameters-disagree'],
  strike: async (ground) => {
    const download = await ground.plan(`http://popular.files.example${ground.path(1000)}?a=b`, {
      via: ['d2', 'd1'],
    });
    if (!download) throw new Error('the master gave no plan');
    await explore(
      ground,
      changes,
      (change) => confused(download.target, change),
      async (change) => {
        const socket = await ground.open('d1');
        socket.write(
          `GET ${confused(download.target, change)} HTTP/1.1\r\nHost: popular.files.example\r\n\r\n`,
        );
        const verdict = verdictOf(await readHead(socket));
        socket.destroy();
        // What was served, and from where, stands in the log of the origin.
        ground.tally.answer(verdict);
        return verdict === 'internal' ? 'a depot takes a strange target for its own mistake' : undefined;
      },
    );
  },
};

type Change = typeof changes extends fc.Arbitrary<infer One> ? One : never;

function confused(target: string, { at, bit, server, port, front }: Change): string {
  const start = Math.floor(at * target.length);
  const put = target.slice(0, start) + bit + target.slice(start);
  const moved = server === undefined ? put : put.replace(/server=[^&]*/, `server=${server}`);
  return front + (port === undefined ? moved : moved.replace(/port=[^&]*/, `port=${port}`));
}
