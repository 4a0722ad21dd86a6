import fc from 'fast-check';
import type { Attack } from '../attack.ts';
import { explore } from '../attacker/explore.ts';
import { type Ground, requestFor, type Target } from '../attacker/ground.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

/** Noise for any place: ends of lines and texts, what other parsers read otherwise. */
const NOISE = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  '\xff',
  '%00',
  '%0d%0a',
  '/../',
  '//',
  '?',
  '#',
  '&',
  '=',
];
/** Whole lines, for places where a line may begin. */
const LINES = [
  'Content-Length: 5',
  'Content-Length: 5, 6',
  'Content-Length: -1',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: identity, chunked',
  'Expect: 100-continue',
  'Expect: something-else',
  'Upgrade: h2c\r\nConnection: Upgrade',
  'Connection: close, keep-alive',
  'Range: bytes=5-1,,-9',
  'Range: bytes=0-0,2-2,4-4',
  'Range: bytes=99999999999999999999-',
  'If-Range: "\xff"',
  'If-Match: *',
  'If-Modified-Since: never',
  'Host: 127.0.0.1',
  'Host: a\r\nHost: b',
  'X-Forwarded-For: 127.0.0.1',
  'Service-Worker: script',
  'Accept: text/html',
  'Cookie: a=b',
  ' folded: line',
  ': no name',
  'no colon',
  `X: ${'x'.repeat(40_000)}`,
];

/** One change of a text: some characters go, and noise comes in their place; or a line is put in. */
type Edit =
  | { readonly at: number; readonly cut: number; readonly noise: string }
  | { readonly at: number; readonly line: string };

/** A place, as a part of the length. */
const at = fc.double({ min: 0, max: 1, noNaN: true });
const edits: fc.Arbitrary<readonly Edit[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ at, line: fc.constantFrom(...LINES) }) },
    fc.record({
      at,
      cut: fc.constantFrom(0, 0, 0, 1, 2, 17),
      noise: fc.oneof(fc.constantFrom('', ...NOISE), fc.string({ maxLength: 8, unit: 'binary-ascii' })),
    }),
  ),
  { minLength: 1, maxLength: 3 },
);

/** Sends heads with a few changes each, and looks at what comes back. */
export async function mutateHeads(ground: Ground, target: Target, heads: readonly string[]): Promise<void> {
  const cases = fc.record({ head: fc.constantFrom(...heads), edits });
  await explore(
    ground,
    cases,
    ({ head, edits: changes }) => JSON.stringify(edited(head, changes)),
    async ({ head, edits: changes }) => {
      const socket = await ground.open(target);
      if (socket.destroyed) return `${target} takes no connection`;
      // Nothing more will come: so a half head is answered at once, too.
      socket.end(edited(head, changes), 'latin1');
      const verdict = verdictOf(await readHead(socket, { patienceMs: 2000 }));
      socket.destroy();
      ground.tally.answer(verdict);
      return verdict === 'internal' || verdict.startsWith('status 5')
        ? `${target} answers ${verdict}`
        : undefined;
    },
  );
}

function edited(text: string, changes: readonly Edit[]): string {
  return changes.reduce((now, change) => {
    const start = Math.floor(change.at * now.length);
    if ('noise' in change) return now.slice(0, start) + change.noise + now.slice(start + change.cut);
    const lineStart = now.indexOf('\r\n', start) + 2;
    return lineStart < 2 ? now : `${now.slice(0, lineStart)}${change.line}\r\n${now.slice(lineStart)}`;
  }, text);
}

export const MUTATED_HEADS: Attack = {
  name: 'mutated-heads',
  does: 'sends requests to a depot with one to three changes in each: lines and noise put in, bytes cut',
  promise:
    'each is answered by a registered refusal, or served as what its ticket names; none is a mistake of the depot',
  worlds: ['splice', 'tls'],
  quick: ['splice'],
  strike: async (ground) => {
    const download = await ground.plan(`http://popular.files.example${ground.path(1000)}`, {
      via: ['d2', 'd1'],
    });
    const tunnel = await ground.planTunnel('http://popular.files.example/', { via: ['d2', 'd1'] });
    if (!download || !tunnel?.ticket) throw new Error('the master gave no plan');
    const connect = 'CONNECT popular.files.example:80 HTTP/1.1\r\nHost: popular.files.example:80\r\n';
    await mutateHeads(ground, 'd1', [
      requestFor(download),
      requestFor(download, ['Range: bytes=10-', 'If-Range: "1000"', 'Accept: */*', 'User-Agent: curl/8']),
      requestFor(download).replace('GET', 'HEAD'),
      `${connect}Proxy-Authorization: Longhaul ${tunnel.ticket}\r\n\r\n`,
      `${connect}longhaul-ticket: ${download.ticket}\r\nlonghaul-chain: 0\r\nlonghaul-proof: d1 ${Date.now()} ${'A'.repeat(86)}\r\n\r\n`,
      `GET /.well-known/longhaul-depot?challenge=${'A'.repeat(43)} HTTP/1.1\r\nHost: depot\r\n\r\n`,
      'GET /healthz HTTP/1.1\r\nHost: depot\r\n\r\n',
    ]);
  },
};
