import { encodeBase64url, formatProof } from '@longhaul/shared';
import { generateKeyPair, verifierFor } from '@longhaul/shared/service';
import { expect, test } from 'vitest';
import { ProofChecker, ProofMaker } from './caller-proof.ts';

let signatures = 0;
/** A depot whose signatures are all different, and cost nothing. */
const keyless = {
  publicKey: '',
  sign: () => {
    signatures += 1;
    return Buffer.alloc(64, signatures.toString()).toString('base64url');
  },
};

const CHAIN = ['d1', 'd2', 'd3'];
const TICKET = 'ticket';

function setUp() {
  const clock = { ms: 1_800_000_000_000 };
  const keys = generateKeyPair();
  const verify = verifierFor(keys.publicKey);
  const sign = (text: string) => encodeBase64url(keys.sign(text));
  const maker = new ProofMaker({ id: 'd1', publicKey: keys.publicKey, sign }, () => clock.ms);
  const checker = new ProofChecker({
    depotKey: (id) => (id === 'd1' ? verify : undefined),
    nowMs: () => clock.ms,
  });
  const make = (ticket = TICKET, chainIndex = 0, place = 0) =>
    formatProof(maker.make(ticket, chainIndex, place));
  const check = (proof: string, place = 1, chain = CHAIN, ticket = TICKET, chainIndex = 0) => {
    const checked = checker.check(proof, ticket, chainIndex, chain, place);
    return checked.ok ? checked.value : checked.error.detail;
  };
  return { clock, make, check };
}

test('a proof is taken once, whoever brings it again', () => {
  const { clock, make, check } = setUp();
  const proof = make();
  expect(check(proof)).toBe('d1');
  for (let second = 0; second <= 120; second += 10) {
    expect(check(proof)).not.toBe('d1');
    clock.ms += 10_000;
  }
});

test('two proofs of one millisecond are two', () => {
  const { make, check } = setUp();
  expect([check(make()), check(make())]).toEqual(['d1', 'd1']);
});

test('a proof is for its depot, ticket, chain and place, and for now', () => {
  const { clock, make, check } = setUp();
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
    d1: new ProofMaker({ id: 'd1', ...keyless }, () => clock.ms),
    d9: new ProofMaker({ id: 'd9', ...keyless }, () => clock.ms),
  };
  const checker = new ProofChecker({ depotKey: () => () => true, nowMs: () => clock.ms, mostSeen: 100 });
  const check = (id: 'd1' | 'd9') =>
    checker.check(formatProof(makers[id].make(TICKET, 0, 0)), TICKET, 0, [id, 'd2'], 1).ok;
  const first = Array.from({ length: 200 }, () => check('d1'));
  expect(first.filter(Boolean)).toHaveLength(50);
  expect(check('d9')).toBe(true);
  clock.ms += 200_000;
  expect(check('d1')).toBe(true);
});
