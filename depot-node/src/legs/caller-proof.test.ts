import { encodeBase64url, formatProof } from '@longhaul/shared';
import { FailedChecks, generateKeyPair, verifierFor } from '@longhaul/shared/service';
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
const NEIGHBOUR = '198.51.100.8';

function setUp(how: 'signature' | 'mac' = 'signature') {
  const clock = { ms: 1_800_000_000_000 };
  const [caller, receiver] = [generateKeyPair(), generateKeyPair()];
  const keys: Record<string, string> = { d1: caller.publicKey, d2: receiver.publicKey };
  const nowMs = () => clock.ms;
  const publicKeyOf = (id: string) => keys[id];
  const identity = { id: 'd1', sign: (text: string) => encodeBase64url(caller.sign(text)) };
  const maker = new ProofMaker({ identity, macs: new PairMacs({ identity: caller, publicKeyOf }), nowMs });
  maker.noteMacs('d2', how === 'mac');
  let checks = 0;
  const verifyOf = (id: string) => {
    const verify = verifierFor(keys[id] ?? '');
    return (
      verify &&
      ((bytes: Uint8Array, signature: Uint8Array) => {
        checks += 1;
        return verify(bytes, signature);
      })
    );
  };
  const failedChecks = new FailedChecks({ isOwn: (address) => address === NEIGHBOUR, nowMs });
  const macs = new PairMacs({ identity: receiver, publicKeyOf });
  const start = () => new ProofChecker({ depotKey: verifyOf, macs, failedChecks, nowMs });
  let checker = start();
  const make = (ticket = TICKET, chainIndex = 0, place = 0) =>
    formatProof(maker.make(ticket, chainIndex, place, 'd2'));
  const check = (text: string, place = 1, chain = CHAIN, ticket = TICKET, chainIndex = 0) => {
    const checked = checker.check({ text, from: NEIGHBOUR }, ticket, chainIndex, chain, place);
    return checked.ok ? checked.value : checked.error.detail;
  };
  /** The same from another address, for the code. */
  const checkFrom = (from: string, text: string) => {
    const checked = checker.check({ text, from }, TICKET, 0, CHAIN, 1);
    return checked.ok ? checked.value : checked.error.code;
  };
  const restart = () => {
    checker = start();
  };
  return { clock, make, check, checkFrom, restart, keys, caller, checks: () => checks };
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
    failedChecks: new FailedChecks({ isOwn: () => true, nowMs: () => clock.ms }),
    nowMs: () => clock.ms,
    mostSeen: 100,
  });
  const check = (id: 'd1' | 'd9') =>
    checker.check(
      { text: formatProof(makers[id].make(TICKET, 0, 0)), from: NEIGHBOUR },
      TICKET,
      0,
      [id, 'd2'],
      1,
    ).ok;
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

test('who brings forged signatures has some hundred of them checked, and neighbours in the same network theirs', () => {
  const { clock, make, checkFrom, checks } = setUp();
  const forged = (at: number) => `d1 ${clock.ms} ${encodeBase64url(Buffer.alloc(64, `forged ${at}`))}`;
  const codes = Array.from({ length: 9_000 }, (_, at) =>
    checkFrom(`198.51.100.${100 + (at % 20)}`, forged(at)),
  );
  expect(codes.filter((code) => code === 'caller-not-proved')).toHaveLength(2_400);
  expect(codes.at(-1)).toBe('signature-checks-spent');
  expect(checks()).toBe(2_400);
  expect(checkFrom('198.51.100.7', make()), 'of the same network').toBe('signature-checks-spent');
  expect(checkFrom(NEIGHBOUR, make())).toBe('d1');
  expect(checkFrom('203.0.113.7', make())).toBe('d1');
});

test('a MAC costs little enough to be looked at wherever it comes from', () => {
  const { clock, make, checkFrom } = setUp('mac');
  for (let at = 0; at < 400; at += 1)
    checkFrom('198.51.100.7', `d1 ${clock.ms} ${encodeBase64url(Buffer.alloc(64, `forged ${at}`))}`);
  expect(checkFrom('198.51.100.7', make())).toBe('d1');
});

test('a proof that comes again has no signature checked', () => {
  const { make, check, checks } = setUp();
  const proof = make();
  expect(check(proof)).toBe('d1');
  for (let time = 0; time < 100; time += 1) expect(check(proof)).toBe('the proof was used before');
  expect(checks()).toBe(1);
});
