import { setImmediate as turn } from 'node:timers/promises';
import { generateKeyPair } from '@longhaul/shared/service';
import { beforeEach, describe, expect, test } from 'vitest';
import type { FactKind } from '../facts/fact.ts';
import { FactKeeper } from '../facts/fact-keeper.ts';
import { Facts } from '../facts/facts.ts';
import { EnrolmentBook } from './enrolment-book.ts';
import {
  DEPOT_ENROLLED,
  DEPOT_OWNED,
  ENROLMENT_FACTS,
  JOIN_TOKEN,
  JOIN_TOKEN_USED,
} from './enrolment-facts.ts';
import { type EnrolmentStore, MemoryEnrolmentStore } from './enrolment-store.ts';

const NOW_MS = 1_795_000_000_000;
const HOUR_MS = 3_600_000;

/** The book of one master, and what it has learned itself. */
function openBook(source: string, store: EnrolmentStore = new MemoryEnrolmentStore(), epoch = 1) {
  const facts = new Facts({ kinds: [...ENROLMENT_FACTS, DEPOT_OWNED], source, epoch });
  const book = new EnrolmentBook({ facts, store, emit: () => {} });
  book.load(NOW_MS);
  /** Hears all that another one holds. */
  const hear = (other: { readonly facts: Facts }) => {
    for (const fact of other.facts.store.facts()) facts.store.take(fact, NOW_MS);
  };
  return { facts, book, hear };
}
type Opened = ReturnType<typeof openBook>;

let made = 0;
function newToken() {
  made += 1;
  return { id: String(made).padStart(16, '0'), publicKey: generateKeyPair().publicKey, lifeMs: HOUR_MS };
}

const newKey = () => generateKeyPair().publicKey;
const codeOf = (result: Awaited<ReturnType<EnrolmentBook['join']>>) =>
  result.ok ? undefined : result.error.code;

async function join({ book }: Opened, depot: string, token: string, publicKey = newKey(), nowMs = NOW_MS) {
  return codeOf(await book.join({ id: depot, publicKey, site: 'pe', token }, nowMs));
}

async function createToken({ book }: Opened, depot?: string, nowMs = NOW_MS): Promise<string> {
  const token = { ...newToken(), ...(depot ? { depot } : {}) };
  expect((await book.tokens.create(token, nowMs)).ok).toBe(true);
  return token.id;
}

/** Other masters tell of so many things that there is no room for more. */
function fill({ facts }: Opened, kind: FactKind<unknown>, keyChars: number): void {
  const value = { depot: 'd0', publicKey: newKey(), site: 'pe', token: 'x'.repeat(16), generation: 1 };
  for (let source = 0, sequence = 0; source < 60; source += 1) {
    for (let isTaken = true; isTaken; ) {
      sequence += 1;
      const key = String(sequence).padStart(keyChars, 'x');
      const stamp = { source: `other-${source}`, epoch: 1, sequence, timeMs: NOW_MS };
      isTaken = facts.store.take({ kind: kind.name, key, ...stamp, value }, NOW_MS).ok;
    }
  }
}

test('a token that cannot be kept as used is refused, so that it makes no second depot', async () => {
  const one = openBook('one');
  const token = await createToken(one);
  fill(one, JOIN_TOKEN_USED, 16);
  expect(await join(one, 'd1', token)).toBe('join-tokens-full');
  expect(await join(one, 'd2', token)).toBe('join-tokens-full');
  expect([one.book.keyOf('d1'), one.book.keyOf('d2')]).toEqual([undefined, undefined]);
});

test('a depot for whose key there is no room is told so however often it asks, and its token stays good', async () => {
  const one = openBook('one');
  const [token, key] = [await createToken(one), newKey()];
  fill(one, DEPOT_ENROLLED, 10);
  expect(await join(one, 'd1', token, key)).toBe('depot-registry-full');
  expect(await join(one, 'd1', token, key)).toBe('depot-registry-full');
  expect(one.book.tokens.list(NOW_MS)).toMatchObject([{ id: token, state: 'open' }]);
  const [any] = one.facts.store.held(DEPOT_ENROLLED);
  one.facts.store.forget(DEPOT_ENROLLED, any?.key ?? '');
  expect(await join(one, 'd2', token)).toBeUndefined();
  expect(await join(one, 'd1', token, key)).toBe('join-token-used');
});

test('forty masters that have each taken next keys of sixty depots still let depots join', async () => {
  const one = openBook('one');
  const value = { publicKey: newKey(), site: 'pe', token: 'x'.repeat(16), generation: 1 };
  for (let source = 0; source < 40; source += 1)
    for (let depot = 0; depot < 60; depot += 1) {
      const stamp = { source: `other-${source}`, epoch: 1, sequence: depot + 1, timeMs: NOW_MS };
      one.facts.store.take({ kind: DEPOT_ENROLLED.name, key: `d${depot}`, ...stamp, value }, NOW_MS);
    }
  expect(await join(one, 'new', await createToken(one))).toBeUndefined();
});

describe('when a thousand depots have joined and all but fifty were revoked', () => {
  const LATER_MS = NOW_MS + 40 * 86_400_000;
  const keys = Array.from({ length: 1000 }, newKey);
  let store: MemoryEnrolmentStore;
  let one: Opened;
  let other: Opened;

  /** Depots join, all at once. */
  const joinAll = (name: string, all: readonly string[], nowMs: number) =>
    Promise.all(
      all.map(async (key, depot) =>
        join(one, `${name}${depot}`, await createToken(one, undefined, nowMs), key, nowMs),
      ),
    );

  beforeEach(async () => {
    store = new MemoryEnrolmentStore();
    [one, other] = [openBook('one', store), openBook('other')];
    expect(new Set(await joinAll('d', keys, NOW_MS))).toEqual(new Set([undefined]));
    other.hear(one);
    const revoked = keys.slice(50);
    await Promise.all(revoked.map((key, at) => one.book.revokeKey(`d${50 + at}`, key, NOW_MS)));
    for (const { facts } of [one, other]) facts.store.sweep(LATER_MS);
  });

  test('others join, and those that were not revoked stay', async () => {
    const token = await createToken(one, undefined, LATER_MS);
    const early = await join(one, 'd50', token, newKey(), LATER_MS);
    expect(early, 'a name is free for tokens that name it, until its room is needed').toBe(
      'depot-key-mismatch',
    );
    const anew = Array.from({ length: 950 }, newKey);
    expect(new Set(await joinAll('n', anew, LATER_MS))).toEqual(new Set([undefined]));
    for (const { book } of [one, openBook('one', store, 2)]) {
      expect(anew.map((_, depot) => book.keyOf(`n${depot}`))).toEqual(anew);
      expect(keys.slice(0, 50).map((_, depot) => book.keyOf(`d${depot}`))).toEqual(keys.slice(0, 50));
    }
    expect(await join(one, 'more', token, newKey(), LATER_MS)).toBe('depot-registry-full');
  });

  test('no revoked key counts again, whoever tells of it or has followed it', async () => {
    await joinAll('n', Array.from({ length: 950 }, newKey), LATER_MS);
    expect(one.book.keyOf('d999')).toBeUndefined();
    const next = newKey();
    const renewed = await other.book.renewKey('d999', next, LATER_MS);
    expect(renewed.ok, 'of a thief, where nobody has heard').toBe(true);
    const restarted = openBook('one', store, 2);
    for (const { book, hear } of [one, restarted]) {
      hear(other);
      expect(keys.slice(50).filter((key) => !book.isRevoked(key))).toEqual([]);
      expect(book.isRevoked(next)).toBe(true);
    }
    const token = await createToken(one, undefined, LATER_MS);
    expect(await join(one, 'd999', token, keys[999], LATER_MS)).toBe('depot-key-revoked');
    expect(codeOf(await restarted.book.renewKey('d999', newKey(), LATER_MS))).toBe('depot-key-revoked');
  });
});

test('a revoked key’s owner who took another key at a master that did not know has no key at all', async () => {
  const [one, two] = [openBook('one'), openBook('two')];
  const [stolen, next] = [newKey(), newKey()];
  expect(await join(one, 'd1', await createToken(one), stolen)).toBeUndefined();
  two.hear(one);
  await one.book.revokeKey('d1', stolen, NOW_MS);
  expect((await two.book.renewKey('d1', next, NOW_MS)).ok).toBe(true);
  one.hear(two);
  two.hear(one);
  expect([one.book.isRevoked(next), two.book.isRevoked(next)]).toEqual([true, true]);
  expect(codeOf(await two.book.renewKey('d1', newKey(), NOW_MS))).toBe('depot-key-revoked');
});

test('a depot that has joined anew after that has the key of its new token, however often the thief took another', async () => {
  const [one, two] = [openBook('one'), openBook('two')];
  const [stolen, anew] = [newKey(), newKey()];
  expect(await join(one, 'd1', await createToken(one), stolen)).toBeUndefined();
  two.hear(one);
  await one.book.revokeKey('d1', stolen, NOW_MS);
  expect(await join(one, 'd1', await createToken(one, 'd1'), anew)).toBeUndefined();
  for (let times = 0; times < 5; times += 1) await two.book.renewKey('d1', newKey(), NOW_MS);
  one.hear(two);
  two.hear(one);
  expect([one.book.keyOf('d1'), two.book.keyOf('d1')]).toEqual([anew, anew]);
  expect([one.book.isRevoked(anew), two.book.isRevoked(anew)]).toEqual([false, false]);
});

test('a key that two keys have followed, at masters that could not hear each other, was copied: neither stays, whichever was renewed more often', async () => {
  for (const times of [1, 2, 3]) {
    const [one, two] = [openBook('one'), openBook('two')];
    expect(await join(one, 'd1', await createToken(one))).toBeUndefined();
    two.hear(one);
    const next = newKey();
    expect((await one.book.renewKey('d1', next, NOW_MS)).ok).toBe(true);
    const thiefs = Array.from({ length: times }, newKey);
    for (const key of thiefs) expect((await two.book.renewKey('d1', key, NOW_MS)).ok).toBe(true);
    one.hear(two);
    two.hear(one);
    one.hear(two);
    for (const { book } of [one, two]) {
      expect([next, thiefs.at(-1) ?? ''].map((key) => book.isRevoked(key))).toEqual([true, true]);
    }
    const anew = newKey();
    expect(await join(one, 'd1', await createToken(one, 'd1'), anew)).toBeUndefined();
    two.hear(one);
    expect([one.book.keyOf('d1'), two.book.keyOf('d1')]).toEqual([anew, anew]);
  }
});

test('a depot that renews its key again and again, at one master after the other, is the same depot', async () => {
  const [one, two] = [openBook('one'), openBook('two')];
  expect(await join(one, 'd1', await createToken(one))).toBeUndefined();
  two.hear(one);
  let key = '';
  for (let times = 0; times < 12; times += 1) {
    key = newKey();
    const [here, there] = times % 3 === 0 ? [two, one] : [one, two];
    expect((await here.book.renewKey('d1', key, NOW_MS)).ok).toBe(true);
    // Not every one of them is heard of.
    if (times % 3 !== 1) there.hear(here);
  }
  expect([one.book.keyOf('d1'), two.book.keyOf('d1')]).toEqual([key, key]);
  expect(one.book.revokedKeys(10)).toEqual([]);
});

test('who has a token for any depot takes no id of a depot that has joined, at a master that could not hear of it, however its key is and however often it is renewed', async () => {
  const [one, two] = [openBook('one'), openBook('two')];
  const key = newKey();
  expect(await join(one, 'd1', await createToken(one), key)).toBeUndefined();
  const token = await createToken(two);
  const later = NOW_MS + 1000;
  const taking = { id: 'd1', publicKey: newKey(), site: 'pe', token };
  expect((await two.book.join(taking, later)).ok).toBe(true);
  for (let times = 0; times < 5; times += 1)
    expect((await two.book.renewKey('d1', newKey(), later)).ok).toBe(true);
  one.hear(two);
  two.hear(one);
  expect([one.book.keyOf('d1'), two.book.keyOf('d1')]).toEqual([key, key]);
});

test('a token that names a depot brings it another key everywhere, also from a master that had not heard of the one before', async () => {
  const [one, two] = [openBook('one'), openBook('two')];
  expect(await join(one, 'd1', await createToken(one))).toBeUndefined();
  for (let times = 0; times < 3; times += 1)
    expect((await one.book.renewKey('d1', newKey(), NOW_MS)).ok).toBe(true);
  const anew = newKey();
  expect(await join(two, 'd1', await createToken(two, 'd1'), anew)).toBeUndefined();
  one.hear(two);
  two.hear(one);
  expect([one.book.keyOf('d1'), two.book.keyOf('d1')]).toEqual([anew, anew]);
});

test('sixty masters with sixty depots that were all started again still let depots join', async () => {
  const stores = Array.from({ length: 60 }, () => new MemoryEnrolmentStore());
  const first = openBook('site-0', stores[0]);
  for (let depot = 0; depot < 60; depot += 1)
    expect(await join(first, `d${depot}`, await createToken(first))).toBeUndefined();
  const earlier = stores.map((store, site) => (site === 0 ? first : openBook(`site-${site}`, store)));
  for (const site of earlier.slice(1)) site.hear(first);
  await turn();
  const later = stores.map((store, site) => openBook(`site-${site}`, store, 2));
  const [one, two] = later as [Opened, Opened];
  for (const site of later) {
    expect(site.book.keyOf('d59')).toBe(first.book.keyOf('d59'));
    one.hear(site);
  }
  const key = newKey();
  expect(await join(one, 'new', await createToken(one), key)).toBeUndefined();
  two.hear(one);
  expect(two.book.keyOf('new')).toBe(key);
  expect(one.facts.store.counts()).toMatchObject({ [DEPOT_ENROLLED.name]: 61, [JOIN_TOKEN.name]: 61 });
});

test('a depot that asks again after its key could not be written down is told so, until it is', async () => {
  const kept = new MemoryEnrolmentStore();
  let isBroken = false;
  const one = openBook('one', {
    load: () => kept.load(),
    save: async (facts) => {
      if (isBroken) throw new Error('the disk is full');
      await kept.save(facts);
    },
  });
  const [token, key, next] = [await createToken(one), newKey(), newKey()];
  isBroken = true;
  await expect(join(one, 'd1', token, key)).rejects.toThrow('the disk is full');
  await expect(join(one, 'd1', token, key)).rejects.toThrow('the disk is full');
  isBroken = false;
  expect(await join(one, 'd1', token, key)).toBeUndefined();
  expect(openBook('one', kept, 2).book.keyOf('d1')).toBe(key);
  isBroken = true;
  await expect(one.book.renewKey('d1', next, NOW_MS)).rejects.toThrow('the disk is full');
  isBroken = false;
  expect((await one.book.renewKey('d1', next, NOW_MS)).ok).toBe(true);
  expect(openBook('one', kept, 3).book.keyOf('d1')).toBe(next);
});

test('what another master has revoked is written down by the next look after a disk was full, and tried once a minute', async () => {
  const kept = new MemoryEnrolmentStore();
  const other = openBook('other');
  const key = newKey();
  await join(other, 'd1', await createToken(other), key);
  let isBroken = true;
  let saves = 0;
  const one = openBook('one', {
    load: () => kept.load(),
    save: async (facts) => {
      saves += 1;
      if (isBroken) throw new Error('the disk is full');
      await kept.save(facts);
    },
  });
  const clock = { steadyMs: 1_000 };
  const keeper = new FactKeeper({
    facts: one.facts,
    file: undefined,
    now: () => NOW_MS,
    steadyMs: () => clock.steadyMs,
    sayAgain: () => {},
    saveAgain: () => one.book.saveAgain(clock.steadyMs),
    onFailure: () => {},
    onRestored: () => {},
  });
  const look = async () => {
    keeper.look();
    await turn();
    return saves;
  };
  expect((await other.book.revokeKey('d1', key, NOW_MS)).ok).toBe(true);
  one.hear(other);
  await turn();
  expect(saves).toBe(1);
  expect(await look(), 'at once').toBe(2);
  isBroken = false;
  clock.steadyMs += 59_999;
  expect(await look()).toBe(2);
  clock.steadyMs += 1;
  expect(await look()).toBe(3);
  expect(openBook('again', kept).book.isRevoked(key)).toBe(true);
  clock.steadyMs += 60_000;
  expect(await look(), 'what is written needs no more').toBe(3);
});

/** What a store has now, as somebody has copied it. */
async function copyOf(store: EnrolmentStore): Promise<EnrolmentStore> {
  await turn();
  const copy = new MemoryEnrolmentStore();
  await copy.save(structuredClone(store.load()));
  return copy;
}

test('a master that starts with an older copy of its file takes nothing back that others have heard from it since', async () => {
  const store = new MemoryEnrolmentStore();
  const [one, other] = [openBook('one', store), openBook('other')];
  const [key, next, stolen] = [newKey(), newKey(), newKey()];
  expect(await join(one, 'd1', await createToken(one), key)).toBeUndefined();
  expect(await join(one, 'd2', await createToken(one), stolen)).toBeUndefined();
  const token = await createToken(one);
  const copy = await copyOf(store);
  expect((await one.book.renewKey('d1', next, NOW_MS)).ok).toBe(true);
  expect((await one.book.revokeKey('d2', stolen, NOW_MS)).ok).toBe(true);
  expect(await join(one, 'd3', token)).toBeUndefined();
  other.hear(one);
  const restored = openBook('one', copy, 2);
  expect(restored.book.keyOf('d1'), 'what the copy says').toBe(key);
  restored.hear(other);
  other.hear(restored);
  for (const { book } of [restored, other]) {
    expect([book.keyOf('d1'), book.isRevoked(next), book.isRevoked(stolen)]).toEqual([next, false, true]);
    expect(book.tokens.list(NOW_MS).find(({ id }) => id === token)).toMatchObject({ state: 'used' });
  }
  const third = newKey();
  expect((await restored.book.renewKey('d1', third, NOW_MS)).ok).toBe(true);
  other.hear(restored);
  expect(other.book.keyOf('d1')).toBe(third);
  expect(openBook('one', await copyOf(copy), 3).book.keyOf('d1')).toBe(third);
});

test('a master whose file is of an epoch that its clock has not reached is heard all the same', async () => {
  const store = new MemoryEnrolmentStore();
  const [one, other] = [openBook('one', store, 9), openBook('other')];
  expect(await join(one, 'd1', await createToken(one))).toBeUndefined();
  other.hear(one);
  await turn();
  const again = openBook('one', store, 2);
  const next = newKey();
  expect((await again.book.renewKey('d1', next, NOW_MS)).ok).toBe(true);
  other.hear(again);
  expect([again.book.keyOf('d1'), other.book.keyOf('d1')]).toEqual([next, next]);
});

test('a file of a version that kept no stamps is read, and told to others', async () => {
  const store = new MemoryEnrolmentStore();
  const key = newKey();
  const one = openBook('one', store);
  expect(await join(one, 'd1', await createToken(one), key)).toBeUndefined();
  const old = new MemoryEnrolmentStore();
  await old.save(
    (await copyOf(store)).load().map(({ kind, key, timeMs, value }) => ({ kind, key, timeMs, value })),
  );
  const [again, other] = [openBook('one', old, 2), openBook('other')];
  other.hear(again);
  expect([again.book.keyOf('d1'), other.book.keyOf('d1')]).toEqual([key, key]);
});
