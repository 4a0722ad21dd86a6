import { encodeBase64url, formatProof } from '@longhaul/shared';
import { generateKeyPair, verifierFor } from '@longhaul/shared/service';
import { expect, test } from 'vitest';
import { ProofChecker, ProofMaker } from './caller-proof.ts';
import { PairMacs } from './pair-macs.ts';

let signatures = 0;
/** A depot whose signatures are all different, and cost nothing. */
const keyless = {
  sign: () => {
    signatures += 1;
    return Buffer.alloc(64, signatures.toString()).toString('base64url');
  },
};

const NO_MACS = { with: () => undefined };
const CHAIN = ['d1', 'd2', 'd3'];
const TICKET = 'ticket';

function setUp(how: 'signature' | 'mac' = 'signature') {
  const clock = { ms: 1_800_000_000_000 };
  const [caller, receiver] = [generateKeyPair(), generateKeyPair()];
  const keys: Record<string, string> = { d1: caller.publicKey, d2: receiver.publicKey };
  const nowMs = () => clock.ms;
  const publicKeyOf = (id: string) => keys[id];
  const identity = { id: 'd1', sign: (text: string) => encodeBase64url(caller.sign(text)) };
  const maker = new ProofMaker({ identity, macs: new PairMacs({ identity: caller, publicKeyOf }), nowMs });
  maker.noteMacs('d2', how === 'mac');
  const verifyOf = (id: string) => verifierFor(keys[id] ?? '');
  const macs = new PairMacs({ identity: receiver, publicKeyOf });
  const start = () => new ProofChecker({ depotKey: verifyOf, macs, nowMs });
  let checker = start();
  const make = (ticket = TICKET, chainIndex = 0, place = 0) =>
    formatProof(maker.make(ticket, chainIndex, place, 'd2'));
  const check = (proof: string, place = 1, chain = CHAIN, ticket = TICKET, chainIndex = 0) => {
    const checked = checker.check(proof, ticket, chainIndex, chain, place);
    return checked.ok ? checked.value : checked.error.detail;
  };
  const restart = () => {
    checker = start();
  };
  return { clock, make, check, restart, keys, caller };
}

const BOTH = ['signature', 'mac'] as const;

test.each(BOTH)('a proof by %s is taken once, whoever brings it again', (how) => {
  const { clock, make, check } = setUp(how);
  const proof = make();
  expect(check(proof)).toBe('d1');
  for (let second = 0; second <= 120; second += 10) {
    expect(check(proof)).not.toBe('d1');
    clock.ms += 10_000;
  }
});

test.each(BOTH)('a proof by %s is taken once the clock that was ahead is right again', (how) => {
  const { clock, make, check } = setUp(how);
  clock.ms += 3_600_000;
  make();
  clock.ms -= 3_600_000;
  expect([check(make()), check(make())]).toEqual(['d1', 'd1']);
});

test.each(BOTH)('two proofs by %s of one millisecond are two', (how) => {
  const { make, check } = setUp(how);
  expect([check(make()), check(make())]).toEqual(['d1', 'd1']);
});

test.each(BOTH)('a proof by %s is for its depot, ticket, chain and place, and for now', (how) => {
  const { clock, make, check } = setUp(how);
  expect(check(make(), 2)).toBe('another depot comes before this one');
  expect(check(make(TICKET, 0, 1))).toBe('the signature is wrong');
  expect(check(make('another'))).toBe('the signature is wrong');
  expect(check(make(TICKET, 1))).toBe('the signature is wrong');
  expect(check(make(), 1, ['d9', 'd2'])).toBe('another depot comes before this one');
  const old = make();
  clock.ms += 61_000;
  expect(check(old)).toBe('the clocks differ too much');
});

test('a depot that makes more proofs than can be remembered is refused, and another one is not', () => {
  const clock = { ms: 1_800_000_000_000 };
  const makers = {
    d1: new ProofMaker({ identity: { id: 'd1', ...keyless }, macs: NO_MACS, nowMs: () => clock.ms }),
    d9: new ProofMaker({ identity: { id: 'd9', ...keyless }, macs: NO_MACS, nowMs: () => clock.ms }),
  };
  const checker = new ProofChecker({
    depotKey: () => () => true,
    macs: NO_MACS,
    nowMs: () => clock.ms,
    mostSeen: 100,
  });
  const check = (id: 'd1' | 'd9') =>
    checker.check(formatProof(makers[id].make(TICKET, 0, 0)), TICKET, 0, [id, 'd2'], 1).ok;
  const first = Array.from({ length: 200 }, () => check('d1'));
  expect(first.filter(Boolean)).toHaveLength(50);
  expect(check('d9')).toBe(true);
  clock.ms += 200_000;
  expect(check('d1')).toBe(true);
});

test('a MAC is good after a restart of either side, for its key is in nobody’s memory', () => {
  const { make, check, restart } = setUp('mac');
  expect(check(make())).toBe('d1');
  restart();
  expect(check(make())).toBe('d1');
});

test('a MAC written in another way is no second proof', () => {
  const { make, check } = setUp('mac');
  const proof = make();
  expect(check(proof)).toBe('d1');
  // The last character of 43 has two bits that no byte has.
  for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
    expect(check(proof.slice(0, -1) + last)).not.toBe('d1');
});

test('a forged MAC is refused: by chance, of another pair, of a key that was replaced', () => {
  const { make, check, keys, caller } = setUp('mac');
  const [id, time] = make().split(' ');
  expect(check(`${id} ${time} ${'A'.repeat(43)}`)).toBe('the signature is wrong');
  expect(check(`${id} ${time} ${'A'.repeat(42)}`)).toBe('the proof is damaged');
  // Who has a key of his own, registered or not, cannot speak for another one.
  const stranger = generateKeyPair();
  const clock = { ms: Number(time) };
  const forger = new ProofMaker({
    identity: { id: 'd1', sign: () => '' },
    macs: new PairMacs({ identity: stranger, publicKeyOf: (depot) => keys[depot] }),
    nowMs: () => clock.ms,
  });
  forger.noteMacs('d2', true);
  expect(check(formatProof(forger.make(TICKET, 0, 0, 'd2')))).toBe('the signature is wrong');
  keys.d1 = generateKeyPair().publicKey;
  expect(check(make())).toBe('the signature is wrong');
  keys.d1 = caller.publicKey;
  expect(check(make())).toBe('d1');
});

test('a neighbour whose key is none gets signatures, and its MACs are refused', () => {
  const { make, keys } = setUp('mac');
  keys.d2 = 'AAAA';
  expect(make().split(' ').at(-1)).toHaveLength(86);
});
