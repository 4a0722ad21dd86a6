import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { directorySchema, planAnswerSchema } from '@longhaul/shared';
import { generateKeyPair, isAnswerSigned, openStateFolder, overlayKeyOf } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startMaster, type TestMaster } from '../testing/start-master.ts';
import { registerDepots, TestDepot } from '../testing/test-depot.ts';
import { askOperatorsMaster, createToken } from '../testing/test-operator.ts';
import { FileEnrolmentStore } from './enrolment-store.ts';

const HOUR_MS = 3_600_000;

let master: TestMaster;
beforeEach(async () => {
  master = await startMaster();
});
afterEach(() => master.master.close());

/** What a client is told of a download. */
async function plannedChain(): Promise<string[]> {
  const body = JSON.stringify({ url: 'https://origin.example/file.iso', sizeBytes: 1e9 });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${master.url}/v1/plans`, { method: 'POST', body, headers });
  return planAnswerSchema.parse(await answer.json()).chain;
}

async function metric(name: string): Promise<string | undefined> {
  const text = await (await fetch(`${master.url}/metrics`)).text();
  return text
    .split('\n')
    .find((line) => line.startsWith(name))
    ?.split(' ')
    .at(-1);
}

describe('a depot with a join token', () => {
  test('joins once, registers without the secret, and knows the answers by the key in the token', async () => {
    const token = await createToken(master);
    const depot = new TestDepot('d1');
    expect(await depot.registerJoined(master)).toMatchObject({ status: 403, code: 'depot-not-joined' });
    const joined = await depot.join(master, token);
    expect(joined.status, joined.text).toBe(200);
    const registered = await depot.registerJoined(master);
    const heard = await depot.heartbeat(master);
    for (const { text, signature, requestSignature } of [joined, registered, heard]) {
      expect(isAnswerSigned(token.overlayKey, requestSignature, text, signature ?? undefined)).toBe(true);
      expect(isAnswerSigned(token.overlayKey, requestSignature, `${text} `, signature ?? undefined)).toBe(
        false,
      );
    }
    expect(directorySchema.parse(JSON.parse(heard.text)).depots.map(({ id }) => id)).toEqual(['d1']);
  });

  test('that asks again because the answer was lost is answered again; anybody else is not', async () => {
    const token = await createToken(master);
    const depot = new TestDepot('d1');
    expect((await depot.join(master, token)).status).toBe(200);
    expect((await depot.join(master, token)).status).toBe(200);
    const code = 'join-token-used';
    expect(await new TestDepot('d1').join(master, token)).toMatchObject({ status: 403, code });
    expect(await new TestDepot('d2').join(master, token)).toMatchObject({ status: 403, code });
    expect(await metric(`longhaul_master_refusals_total{code="${code}"}`)).toBe('2');
  });

  test.each([
    ['whose time is over', { lifeMs: HOUR_MS }, 'join-token-expired'],
    ['for another site', { site: 'pe' }, 'join-token-elsewhere'],
    ['for another depot', { depot: 'd2' }, 'join-token-elsewhere'],
  ])('%s is refused', async (_, options, code) => {
    const token = await createToken(master, options);
    if ('lifeMs' in options) master.clock.advance(HOUR_MS / 1000 + 1);
    expect(await new TestDepot('d1').join(master, token)).toMatchObject({ status: 403, code });
    expect((await askOperatorsMaster(master, { do: 'list-tokens' })).tokens[0]?.state).not.toBe('used');
  });

  test('that was taken back, that nobody made, or of which it has only the id is refused', async () => {
    const token = await createToken(master);
    await askOperatorsMaster(master, { do: 'revoke-token', token: token.id });
    const depot = new TestDepot('d1');
    expect((await depot.join(master, token)).code).toBe('join-token-revoked');
    expect((await depot.join(master, { ...token, id: 'nobody-made-this' })).code).toBe('join-token-unknown');
    const open = await createToken(master);
    expect((await depot.join(master, { ...token, id: open.id })).code).toBe('join-token-unknown');
  });

  test('takes no id of another depot, unless the token is for that one by name', async () => {
    await registerDepots(master, 'd1');
    const depot = new TestDepot('d1');
    const any = await createToken(master);
    expect((await depot.join(master, any)).code).toBe('depot-key-mismatch');
    const named = await createToken(master, { depot: 'd1' });
    expect((await depot.join(master, named)).status).toBe(200);
    expect((await depot.registerJoined(master)).status).toBe(200);
    expect((await depot.heartbeat(master)).status).toBe(200);
  });

  test('is bound to it: who has the secret and another key does not take its place', async () => {
    const token = await createToken(master);
    const depot = new TestDepot('d1');
    await depot.join(master, token);
    expect((await new TestDepot('d1').register(master)).code).toBe('depot-key-mismatch');
    expect((await depot.register(master)).status).toBe(200);
  });

  test('is the only one to register where the operator wants tokens', async () => {
    const strict = await startMaster({ config: { depots: { enrolment: 'tokens' } } });
    onTestFinished(() => strict.master.close());
    const depot = new TestDepot('d1');
    expect((await depot.register(strict)).code).toBe('depot-not-joined');
    await depot.join(strict, await createToken(strict));
    expect((await depot.registerJoined(strict)).status).toBe(200);
  });
});

describe('a depot that has joined', () => {
  async function join(id: string): Promise<TestDepot> {
    const depot = new TestDepot(id);
    expect((await depot.join(master, await createToken(master))).status).toBe(200);
    expect((await depot.registerJoined(master)).status).toBe(200);
    return depot;
  }

  test('is refused heartbeats that were altered or were here before, and they are counted', async () => {
    const depot = await join('d1');
    const heard = await depot.heartbeat(master);
    expect((await heard.again()).code).toBe('request-replayed');
    const body = JSON.stringify({ activeTransfers: 9, draining: true, links: [], sizes: [] });
    expect((await depot.heartbeat(master, {}, { body })).code).toBe('depot-signature-wrong');
    expect((await depot.heartbeat(master, {}, { timeMs: master.clock.nowMs - 61_000 })).code).toBe(
      'depot-signature-wrong',
    );
    const next = depot.nextProcess();
    expect((await next.registerJoined(master)).status).toBe(200);
    expect((await depot.heartbeat(master)).code).toBe('depot-twice');
    expect(await metric('longhaul_master_refusals_total{code="request-replayed"}')).toBe('1');
    expect(await metric('longhaul_master_refusals_total{code="depot-signature-wrong"}')).toBe('2');
    expect(await metric('longhaul_master_refusals_total{code="depot-twice"}')).toBe('1');
  });

  test('takes another key, by the one before and the new one; then the old one is nobody’s', async () => {
    const depot = await join('d1');
    const key = generateKeyPair();
    const stranger = generateKeyPair();
    expect((await depot.renewKey(master, key, { key: stranger })).code).toBe('depot-signature-wrong');
    expect((await depot.renewKey(master, key)).status).toBe(200);
    expect((await depot.registerJoined(master)).code).toBe('depot-not-joined');
    const renewed = new TestDepot('d1', key);
    expect((await renewed.renewKey(master, key)).status, 'asked again').toBe(200);
    expect((await renewed.registerJoined(master)).status).toBe(200);
    expect((await renewed.heartbeat(master)).status).toBe(200);
    expect((await depot.heartbeat(master)).code).toBe('depot-signature-wrong');
  });

  test('is in no plan and no directory any more once its key is revoked, also after it asks to be', async () => {
    const [d1] = [await join('d1'), await join('d2')];
    expect(await plannedChain()).toEqual(['d1', 'd2']);
    await askOperatorsMaster(master, { do: 'revoke-depot', depot: 'd2' });
    expect(await plannedChain()).not.toContain('d2');
    const { depots, revokedKeys } = directorySchema.parse(JSON.parse((await d1.heartbeat(master)).text));
    expect(depots.map(({ id }) => id)).toEqual(['d1']);
    expect(revokedKeys).toHaveLength(1);
    await askOperatorsMaster(master, { do: 'revoke-depot', depot: 'd1' });
    expect((await d1.heartbeat(master)).code).toBe('depot-unknown');
    expect((await d1.registerJoined(master)).code).toBe('depot-key-revoked');
    expect((await d1.register(master)).code).toBe('depot-key-revoked');
    expect((await d1.join(master, await createToken(master, { depot: 'd1' }))).code).toBe(
      'depot-key-revoked',
    );
    expect(await plannedChain()).toEqual([]);
  });

  test('comes back by another key and a token of its name', async () => {
    await join('d1');
    await askOperatorsMaster(master, { do: 'revoke-depot', depot: 'd1' });
    const anew = new TestDepot('d1');
    expect((await anew.join(master, await createToken(master))).code).toBe('depot-key-mismatch');
    expect((await anew.join(master, await createToken(master, { depot: 'd1' }))).status).toBe(200);
    expect((await anew.registerJoined(master)).status).toBe(200);
  });
});

test('only who can read the signing key of a master makes tokens there', async () => {
  const other = await startMaster();
  onTestFinished(() => other.master.close());
  await expect(askOperatorsMaster(master, { do: 'list-tokens' }, other)).rejects.toThrow(
    'depot-signature-wrong',
  );
});

test('tokens, keys and what was revoked outlive the master; a damaged file stops the start and stays', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longhaul-enrolment-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const store = () => new FileEnrolmentStore(openStateFolder(folder));
  const first = await startMaster({ enrolmentStore: store() });
  const [open, used, taken] = [await createToken(first), await createToken(first), await createToken(first)];
  const [d1, thief] = [new TestDepot('d1'), new TestDepot('d9')];
  await d1.join(first, used);
  await thief.join(first, taken);
  await askOperatorsMaster(first, { do: 'revoke-depot', depot: 'd9' });
  const text = await readFile(join(folder, 'enrolment.json'), 'utf8');
  for (const { seed } of [open, used, taken]) expect(text).not.toContain(seed);
  await first.master.close();
  const second = await startMaster({ enrolmentStore: store(), clock: first.clock });
  onTestFinished(() => second.master.close());
  expect((await d1.registerJoined(second)).status).toBe(200);
  expect((await new TestDepot('d2').join(second, used)).code).toBe('join-token-used');
  expect((await new TestDepot('d2').join(second, open)).status).toBe(200);
  expect((await thief.registerJoined(second)).code).toBe('depot-key-revoked');
  await writeFile(join(folder, 'enrolment.json'), '{"facts":[{"kind":"depot-key-revoked"');
  await expect(startMaster({ enrolmentStore: store() })).rejects.toThrow(
    /damaged, .*restore it .*\(enrolment\.json; /,
  );
  expect(await readFile(join(folder, 'enrolment.json'), 'utf8')).toBe(
    '{"facts":[{"kind":"depot-key-revoked"',
  );
});

test('the overlay’s key is the same at all masters with one secret, and another one with another', () => {
  expect(overlayKeyOf('one secret').publicKey).toBe(overlayKeyOf('one secret').publicKey);
  expect(overlayKeyOf('one secret').publicKey).not.toBe(overlayKeyOf('another').publicKey);
});
