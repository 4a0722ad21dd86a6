import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStateFolder } from '@longhaul/shared/service';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadMasterKeys } from './key-files.ts';
import { KeyRing } from './key-ring.ts';
import { generateSigningKey } from './signing-key.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'longhaul-keys-'));
});
afterEach(() => rm(dir, { recursive: true }));

const clock = { nowMs: 1_795_000_000_000, steadyMs: 0, canTell: true };
const pass = (ms: number) => {
  clock.nowMs += ms;
  clock.steadyMs += ms;
};

/** A process of the master: its keys are renewed after thirty days, and known for an hour before. */
function open() {
  const state = openStateFolder(dir);
  const told: string[][] = [];
  const ring: KeyRing = new KeyRing({
    first: loadMasterKeys(state).signingKey,
    state,
    renewMs: 30 * DAY_MS,
    aheadMs: HOUR_MS,
    lifeMs: DAY_MS,
    canTell: () => clock.canTell,
    now: () => clock.nowMs,
    steadyMs: () => clock.steadyMs,
    onPublished: () => told.push(ids(ring)),
    onWaiting: () => {},
    onFailure: (failure) => {
      throw failure;
    },
  });
  return { ring, told };
}

const ids = (ring: KeyRing) => ring.published.map(({ keyId }) => keyId);

/** Lets the next key be made; gives its id. */
async function publishNext(ring: KeyRing): Promise<string> {
  await ring.look();
  pass(30 * DAY_MS);
  await ring.look();
  return ids(ring)[1] ?? '';
}

test('a key is known for an hour before it signs, and the one before as long as its tickets are good', async () => {
  const { ring, told } = open();
  const first = ring.current.keyId;
  const next = await publishNext(ring);
  expect([ring.current.keyId, ids(ring)]).toEqual([first, [first, next]]);
  await ring.look();
  pass(HOUR_MS - 1);
  await ring.look();
  expect(ring.current.keyId).toBe(first);
  pass(1);
  await ring.look();
  expect([ring.current.keyId, ids(ring)]).toEqual([next, [next, first]]);
  pass(DAY_MS);
  await ring.look();
  expect(ids(ring)).toEqual([next, first]);
  pass(DAY_MS + 1);
  await ring.look();
  expect(ids(ring)).toEqual([next]);
  expect(told).toEqual([[first, next], [next, first], [next]]);
});

test('a key waits until others could hear of it for an hour without a break', async () => {
  const { ring } = open();
  const first = ring.current.keyId;
  await publishNext(ring);
  await ring.look();
  clock.canTell = false;
  pass(HOUR_MS / 2);
  await ring.look();
  clock.canTell = true;
  await ring.look();
  pass(HOUR_MS / 2);
  await ring.look();
  expect(ring.current.keyId).toBe(first);
  pass(HOUR_MS / 2);
  await ring.look();
  expect(ring.current.keyId).not.toBe(first);
});

test('a clock that is set hours ahead brings no key into use before others know it', async () => {
  const { ring } = open();
  const first = ring.current.keyId;
  await publishNext(ring);
  await ring.look();
  clock.nowMs += 10 * HOUR_MS;
  await ring.look();
  expect(ring.current.keyId).toBe(first);
});

test('a key that came into use by a clock a year ahead is renewed when its time comes by the right one', async () => {
  const rightMs = clock.nowMs;
  clock.nowMs += 365 * DAY_MS;
  await open().ring.look();
  clock.nowMs = rightMs;
  const first = ids(open().ring);
  // Restarts meanwhile put nothing off.
  for (let start = 0; start < 3; start += 1) {
    const { ring } = open();
    await ring.look();
    pass(9 * DAY_MS);
    await ring.look();
    expect(ids(ring)).toEqual(first);
  }
  pass(3 * DAY_MS);
  const { ring } = open();
  await ring.look();
  expect(ids(ring)).toEqual([first[0], expect.any(String)]);
});

test('a key that was replaced by a clock a year ahead is forgotten when its time is over by the right one', async () => {
  const rightMs = clock.nowMs;
  const [first] = ids(open().ring);
  clock.nowMs += 365 * DAY_MS;
  const { ring } = open();
  await publishNext(ring);
  await ring.look();
  pass(HOUR_MS);
  await ring.look();
  expect(ring.current.keyId).not.toBe(first);
  expect(ids(ring)).toContain(first);
  clock.nowMs = rightMs;
  const later = open().ring;
  await later.look();
  expect(ids(later)).toContain(first);
  pass(9 * DAY_MS);
  await later.look();
  expect(ids(later)).not.toContain(first);
});

test('a clock that is set back while a master runs puts off the renewal of its key no further than a new one', async () => {
  clock.nowMs += 365 * DAY_MS;
  const { ring } = open();
  await ring.look();
  clock.nowMs -= 365 * DAY_MS;
  await ring.look();
  pass(30 * DAY_MS);
  await ring.look();
  expect(ids(ring)).toHaveLength(2);
});

test('a restart forgets no key, whenever it comes, and they are readable by nobody else', async () => {
  const before = open();
  const first = before.ring.current.keyId;
  const next = await publishNext(before.ring);
  expect(ids(open().ring)).toEqual([first, next]);
  const { ring } = open();
  await ring.look();
  pass(HOUR_MS);
  const ringFile = await readFile(join(dir, 'signing-keys.json'), 'utf8');
  await ring.look();
  expect(ids(open().ring)).toEqual([next, first]);
  for (const file of await readdir(dir)) expect((await stat(join(dir, file))).mode & 0o777).toBe(0o600);
  // It has ended between the two files.
  await writeFile(join(dir, 'signing-keys.json'), ringFile);
  expect(ids(open().ring)).toEqual([next, first]);
});

test('beside a key that an operator has put there nothing of the stolen one counts', async () => {
  const { ring } = open();
  await publishNext(ring);
  const { keyId, toPem } = generateSigningKey();
  await writeFile(join(dir, 'signing-key.pem'), toPem());
  expect(ids(open().ring)).toEqual([keyId]);
});

test('a key that an operator has put there is renewed when its time comes, however often the master starts again', async () => {
  await open().ring.look();
  await writeFile(join(dir, 'signing-key.pem'), generateSigningKey().toPem());
  for (let start = 0; start < 3; start += 1) {
    const { ring } = open();
    await ring.look();
    pass(10 * DAY_MS);
  }
  const { ring } = open();
  await ring.look();
  expect(ids(ring)).toHaveLength(2);
});

test('damaged keys stop the start and are kept', async () => {
  await writeFile(join(dir, 'signing-keys.json'), '{"version":1,"current":');
  expect(open).toThrow(/damaged.*\(signing-keys\.json\)/);
  expect(await readFile(join(dir, 'signing-keys.json'), 'utf8')).toBe('{"version":1,"current":');
});

test('a disk that says no leaves the key that signs, and it is tried again', async () => {
  const state = { ...openStateFolder(dir), save: () => Promise.reject(new Error('full')) };
  const failures: unknown[] = [];
  const first = generateSigningKey();
  const ring = new KeyRing({
    first,
    state,
    renewMs: 1,
    aheadMs: 1,
    lifeMs: DAY_MS,
    canTell: () => true,
    now: () => clock.nowMs,
    steadyMs: () => clock.steadyMs,
    onPublished: () => {},
    onWaiting: () => {},
    onFailure: (failure) => failures.push(failure),
  });
  for (let look = 0; look < 5; look += 1) {
    pass(10);
    await ring.look();
  }
  expect(ids(ring)).toEqual([first.keyId]);
  expect(failures).toHaveLength(5);
});

/** How often the key is replaced within a hundred days, and how often that had to wait. */
async function renewedEvery(renewMs: number): Promise<{ renewed: number; waited: number }> {
  let waited = 0;
  const first = generateSigningKey();
  const ring = new KeyRing({
    first,
    state: undefined,
    renewMs,
    aheadMs: HOUR_MS,
    lifeMs: 7 * DAY_MS,
    canTell: () => true,
    now: () => clock.nowMs,
    steadyMs: () => clock.steadyMs,
    onPublished: () => {},
    onWaiting: () => {
      waited += 1;
    },
    onFailure: (failure) => {
      throw failure;
    },
  });
  const keys = new Set<string>();
  for (let hour = 0; hour < 2400; hour += 1) {
    await ring.look();
    keys.add(ring.current.keyId);
    pass(HOUR_MS);
  }
  return { renewed: keys.size - 1, waited };
}

test('a renewal that waits because there are too many keys is told of, once each time', async () => {
  const { renewed, waited } = await renewedEvery(HOUR_MS);
  expect(renewed, 'seven in eight days').toBeLessThan(100);
  expect(waited).toBeGreaterThan(1);
  expect(waited).toBeLessThanOrEqual(renewed);
});

test('a seventh of the time that keys are known after their use is long enough between two of them', async () => {
  expect((await renewedEvery((8 * DAY_MS) / 7)).waited).toBe(0);
});
