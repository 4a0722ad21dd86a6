import { expect, test } from 'vitest';
import { Facts } from '../facts/facts.ts';
import { ALIAS_FACTS, ClientAliases } from './client-aliases.ts';

const NOW = 1_795_000_000_000;
const HOUR_MS = 3_600_000;
const V6 = '2001:db8:5::/48';
const V4 = '198.51.100.0/24';
const NEIGHBOUR = '198.51.7.0/24';
const ELSEWHERE = '203.0.113.0/24';

function aliases(facts = new Facts({ kinds: ALIAS_FACTS })) {
  const known = new ClientAliases(facts);
  const says = (depot: string, prefix: string, hours = 0, network = V6) =>
    known.note(depot, network, prefix, NOW + hours * HOUR_MS);
  return { known, says, of: (network = V6) => known.of(network) };
}

test('one depot says where clients of a network come from, until another one says otherwise', () => {
  const { says, of } = aliases();
  expect(of()).toBeUndefined();
  says('d1', V4);
  expect(of()).toEqual({ prefix: V4, isAgreed: false });
  says('d2', ELSEWHERE, 1);
  expect(of()).toBeUndefined();
  says('d3', V4, 2);
  expect(of()).toEqual({ prefix: V4, isAgreed: true });
});

test('of two networks the one counts that more depots say', () => {
  const { says, of } = aliases();
  for (const depot of ['d1', 'd2', 'd3']) says(depot, V4);
  for (const liar of ['d4', 'd5']) says(liar, ELSEWHERE, 1);
  expect(of()).toEqual({ prefix: V4, isAgreed: true });
});

test('a network is known by IPv6, too, when its clients ask the master by IPv4', () => {
  const { says, of } = aliases();
  says('d1', V6, 0, V4);
  expect(of(V4)?.prefix).toBe(V6);
  expect(of(V6)).toBeUndefined();
});

test('what stands before a depot is no alias, and takes none from what others say; but a client has come there', () => {
  const { known, says, of } = aliases();
  says('d1', '172.17.0.0/24');
  says('d2', '127.0.0.0/24');
  expect(of()).toBeUndefined();
  expect(['d1', 'd2', 'd3'].map((depot) => known.hasMet(depot, V6))).toEqual([true, true, false]);
  says('d3', V4);
  expect(of()).toEqual({ prefix: V4, isAgreed: false });
});

test('a depot whose clients come past a proxy, and past none, tells of those that come past none', () => {
  for (const order of [
    ['172.17.0.0/24', V4],
    [V4, '172.17.0.0/24'],
  ]) {
    const { says, of } = aliases();
    for (const [hours, prefix] of order.entries()) says('d1', prefix, hours);
    expect(of()).toEqual({ prefix: V4, isAgreed: false });
  }
});

test('nothing of the same family is an alias, and where clients come from there, too, none is believed of one depot', () => {
  const { says, of } = aliases();
  says('d1', V4, 0, ELSEWHERE);
  says('d2', V4, 0, ELSEWHERE);
  expect(of(ELSEWHERE)).toBeUndefined();
  says('d1', V4);
  says('d2', '2001:db8:77::/48');
  expect(of()).toBeUndefined();
});

test('the parts of a network whose clients come from several neighbouring ones are where the newest came from', () => {
  const { says, of } = aliases();
  says('d1', V4);
  says('d1', NEIGHBOUR, 1);
  expect(of()).toEqual({ prefix: NEIGHBOUR, isAgreed: false });
  says('d2', V4, 2);
  expect(of()).toEqual({ prefix: V4, isAgreed: false });
});

test('a network whose clients come from here and there within a day has no alias: it is a proxy’s', () => {
  const { says, of } = aliases();
  says('d1', V4);
  says('d1', ELSEWHERE, 1);
  expect(of()).toBeUndefined();
  says('d1', ELSEWHERE, 20);
  expect(of()).toBeUndefined();
  says('d1', ELSEWHERE, 26);
  expect(of()?.prefix).toBe(ELSEWHERE);
  // Who has stayed away for a day has moved.
  says('d1', V4, 60);
  expect(of()?.prefix).toBe(V4);
});

test('of this machine’s own clients, of a client that came from where it asked, and of what is no network nothing is learned', () => {
  const { says, of } = aliases();
  says('d1', V6, 0, '127.0.0.0/24');
  says('d1', V4, 0, '::/48');
  says('d1', V6);
  says('d1', '999.1.1.0/24');
  expect([of('127.0.0.0/24'), of('::/48'), of()]).toEqual([undefined, undefined, undefined]);
});

test('a depot that clients come to by a proxy or a container of its site has them nowhere', () => {
  const { known, says, of } = aliases();
  for (const prefix of ['127.0.0.0/24', '10.1.2.0/24', '172.17.0.0/24', '100.64.7.0/24']) says('d1', prefix);
  expect([of(), known.ofEach(V6).size]).toEqual([undefined, 0]);
  // Where both are of one site, it is one.
  says('d1', '10.1.2.0/24', 0, 'fd00:1:2::/48');
  expect(of('fd00:1:2::/48')?.prefix).toBe('10.1.2.0/24');
});

test('what a depot has said is forgotten with it, and after a week', () => {
  const facts = new Facts({ kinds: ALIAS_FACTS });
  const { known, says, of } = aliases(facts);
  says('d1', V4);
  says('d2', ELSEWHERE);
  known.forgetFrom('d2');
  expect(of()?.prefix).toBe(V4);
  facts.store.sweep(NOW + 8 * 24 * HOUR_MS);
  expect(of()).toBeUndefined();
});

test('a network that is busy all day is told of once an hour', () => {
  const facts = new Facts({ kinds: ALIAS_FACTS });
  const { says } = aliases(facts);
  let told = 0;
  facts.tellOthers(() => (told += 1));
  for (let minute = 0; minute < 180; minute += 1) says('d1', V4, minute / 60);
  expect(told).toBe(3);
});
