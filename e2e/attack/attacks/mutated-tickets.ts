import fc from 'fast-check';
import type { Attack } from '../attack.ts';
import { explore } from '../attacker/explore.ts';
import { requestFor } from '../attacker/ground.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** What may be changed in the JSON of a ticket's header and claims; nobody but a master can sign it again. */
const CLAIMS: readonly object[] = [
  { j: 'another' },
  { k: 't' },
  { k: 's' },
  { u: 'A'.repeat(44) },
  { n: '8.zzzzzzzz.zzzzz.0.zzzzzz.zzzzzzz' },
  { n: '1.-1.1.1.1.1' },
  { c: 'd1~AAABkAUADI0' },
  { c: null },
  { __proto__: 1, constructor: 1 },
];
const HEADERS: readonly object[] = [
  { alg: 'none' },
  { alg: 'HS256' },
  { typ: 'lh2' },
  { kid: 'unknown' },
  { kid: '../../etc' },
  { kid: '' },
];

type Change =
  | { readonly is: 'character'; readonly at: number; readonly to: string }
  | { readonly is: 'claims' | 'header'; readonly by: object }
  | { readonly is: 'length'; readonly times: number }
  | { readonly is: 'cut'; readonly chars: number }
  | { readonly is: 'parts'; readonly order: readonly number[] };

const changes: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      is: fc.constant('character' as const),
      at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      to: fc.constantFrom(...BASE64URL.split('')),
    }),
  },
  fc.record({ is: fc.constant('claims' as const), by: fc.constantFrom(...CLAIMS) }),
  fc.record({ is: fc.constant('header' as const), by: fc.constantFrom(...HEADERS) }),
  fc.record({ is: fc.constant('length' as const), times: fc.integer({ min: 2, max: 30 }) }),
  fc.record({ is: fc.constant('cut' as const), chars: fc.integer({ min: 1, max: 200 }) }),
  fc.record({
    is: fc.constant('parts' as const),
    order: fc.array(fc.nat(2), { minLength: 1, maxLength: 5 }),
  }),
);

export const MUTATED_TICKETS: Attack = {
  name: 'mutated-tickets',
  does: 'asks a depot by tickets that are no longer what the master signed: a character, a claim, an algorithm, a length changed',
  promise: 'a ticket that is not byte by byte what a master signed opens nothing',
  worlds: ['splice'],
  quick: ['splice'],
  meets: ['ticket-signature-wrong', 'ticket-malformed'],
  strike: async (ground) => {
    const download = await ground.plan(`http://popular.files.example${ground.path(1000)}`, {
      via: ['d2', 'd1'],
    });
    if (!download) throw new Error('the master gave no plan');
    const { target, ticket } = download;
    await explore(
      ground,
      changes,
      (change) => changed(ticket, change),
      async (change) => {
        const forged = changed(ticket, change);
        if (forged === ticket) return undefined;
        const socket = await ground.open('d1');
        socket.write(requestFor({ target: target.replace(ticket, forged) }));
        const verdict = verdictOf(await readHead(socket));
        socket.destroy();
        ground.tally.answer(verdict);
        return verdict === 'served' || verdict === 'internal' ? `a changed ticket is ${verdict}` : undefined;
      },
    );
  },
};

function changed(ticket: string, change: Change): string {
  const parts = ticket.split('.');
  const edit = (text = '', by: object = {}) => {
    const value = JSON.parse(Buffer.from(text, 'base64url').toString()) as object;
    return Buffer.from(JSON.stringify({ ...value, ...by })).toString('base64url');
  };
  switch (change.is) {
    case 'character': {
      const at = Math.floor(change.at * ticket.length);
      return ticket[at] === '.' ? ticket : ticket.slice(0, at) + change.to + ticket.slice(at + 1);
    }
    case 'claims':
      return [parts[0], edit(parts[1], change.by), parts[2]].join('.');
    case 'header':
      return [edit(parts[0], change.by), parts[1], parts[2]].join('.');
    case 'length':
      return [parts[0], parts[1]?.repeat(change.times), parts[2]].join('.');
    case 'cut':
      return ticket.slice(0, -change.chars);
    case 'parts':
      return change.order.map((index) => parts[index]).join('.');
  }
}
