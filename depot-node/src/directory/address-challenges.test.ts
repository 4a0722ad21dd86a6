import {
  addressProofText,
  challengeText,
  decodeBase64url,
  encodeBase64url,
  formatChallengeTarget,
  formatChallengeWord,
  ok,
} from '@longhaul/shared';
import { FailedChecks, generateKeyPair } from '@longhaul/shared/service';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fetchRaw } from '../testing/fetch-raw.ts';
import { startTestOverlay } from '../testing/overlay.ts';
import { AddressChallenges } from './address-challenges.ts';

const CHALLENGE = 'c'.repeat(43);
const TARGET = formatChallengeTarget(CHALLENGE);
const key = generateKeyPair();
const mastersKey = generateKeyPair();
/** Known by its address from the beginning. */
const MASTER = '192.0.2.100';
const place = { host: 'd1.example', port: 443, tls: true };

function challenges() {
  let nowMs = 0;
  const own = new Set([MASTER]);
  let words = 0;
  const sign = (text: string) => Buffer.from(key.sign(text)).toString('base64url');
  const answering = new AddressChallenges({
    identity: { id: 'd1', publicKey: key.publicKey, sign, agree: () => undefined },
    place: () => place,
    masterKey: (keyId) => (text, signature) => {
      words += 1;
      return keyId === 'k' && mastersKey.verify(text, signature);
    },
    isOwn: (address) => own.has(address),
    noteMaster: (address) => void own.add(address),
    failedChecks: new FailedChecks({ isOwn: (address) => own.has(address), nowMs: () => nowMs }),
    nowMs: () => nowMs,
  });
  return {
    ask: (target = TARGET, from = '192.0.2.1', word?: string) => answering.answer(target, from, word),
    /** How many words of masters were looked at. */
    words: () => words,
    passMinute: () => {
      nowMs += 60_000;
    },
  };
}

/** A master's word to this depot at the beginning. */
function wordOf({ to = 'd1', challenge = CHALLENGE, timeMs = 0, keyId = 'k', by = mastersKey } = {}): string {
  const signature = encodeBase64url(by.sign(challengeText(to, challenge, timeMs)));
  return formatChallengeWord({ timeMs, keyId, signature });
}

describe('whoever asks a depot whether it is there', () => {
  test('gets its signature over the challenge, its id and its address, and over nothing else', () => {
    const answer = challenges().ask();
    const text = `longhaul-address-1\nd1\nhttps://d1.example:443\n${CHALLENGE}`;
    expect(addressProofText('d1', place, CHALLENGE)).toBe(text);
    expect(answer).toEqual(ok({ id: 'd1', signature: expect.stringMatching(/^[\w-]{86}$/) as string }));
    const signature = answer.ok ? decodeBase64url(answer.value.signature) : undefined;
    expect(key.verify(Buffer.from(text), signature ?? new Uint8Array())).toBe(true);
  });

  test.each([
    '/.well-known/longhaul-depot',
    '/.well-known/longhaul-depot?challenge=',
    `${TARGET}x`,
    `${TARGET}&more=1`,
    formatChallengeTarget(`longhaul-request-1\nPOST\n${'c'.repeat(20)}`),
    formatChallengeTarget('%0A'.repeat(14)),
  ])('by %j gets nothing signed', (target) => {
    expect(challenges().ask(target)).toMatchObject({ error: { code: 'bad-request' } });
  });

  test('more often than a master does has to wait, and keeps no other network waiting', () => {
    const { ask, passMinute } = challenges();
    const codes = Array.from({ length: 61 }, (_, index) => ask(TARGET, `192.0.2.${index}`).ok);
    expect(codes).toEqual([...Array.from({ length: 60 }, () => true), false]);
    expect(ask()).toMatchObject({ error: { code: 'too-many-challenges', status: 429 } });
    expect(ask(TARGET, '198.51.100.1').ok).toBe(true);
    passMinute();
    expect(ask().ok).toBe(true);
  });

  test('from more networks than there are masters has to wait, too', () => {
    const { ask, passMinute } = challenges();
    for (let network = 0; network < 1000; network += 1) {
      expect(ask(TARGET, `10.${network >> 8}.${network & 255}.1`).ok).toBe(true);
    }
    expect(ask(TARGET, '198.51.100.1').ok).toBe(false);
    expect(ask(TARGET, '10.0.0.2').ok).toBe(true);
    passMinute();
    expect(ask(TARGET, '198.51.100.1').ok).toBe(true);
  });
});

describe('a master is answered', () => {
  const fill = (ask: (target: string, from: string) => { ok: boolean }) => {
    for (let network = 0; network < 1000; network += 1) ask(TARGET, `10.${network >> 8}.${network & 255}.1`);
    expect(ask(TARGET, '198.51.100.1').ok).toBe(false);
  };

  test("when a stranger has used up its network's room: as often as strangers are, and no more", () => {
    const { ask } = challenges();
    while (ask().ok);
    const answers = Array.from({ length: 61 }, () => ask(TARGET, MASTER).ok);
    expect(answers).toEqual([...Array.from({ length: 60 }, () => true), false]);
    expect(ask(TARGET, `::ffff:${MASTER}`).ok).toBe(false);
  });

  test('when strangers ask from as many networks as are answered', () => {
    const { ask } = challenges();
    fill(ask);
    expect(ask(TARGET, MASTER).ok).toBe(true);
  });

  test('then from another address as well, by its word, and from there without one later', () => {
    const { ask, words } = challenges();
    fill(ask);
    expect(ask(TARGET, '203.0.113.5', wordOf()).ok).toBe(true);
    expect(ask(TARGET, '203.0.113.5').ok).toBe(true);
    expect(ask(TARGET, '203.0.113.5', wordOf()).ok).toBe(true);
    expect(words(), 'looked at once').toBe(1);
    expect(ask(TARGET, '203.0.113.6').ok).toBe(false);
  });

  test('when a stranger behind the same address has used up what that has', () => {
    const { ask } = challenges();
    while (ask(TARGET, MASTER).ok);
    const answers = Array.from({ length: 61 }, () => ask(TARGET, MASTER, wordOf()).ok);
    expect(answers).toEqual([...Array.from({ length: 60 }, () => true), false]);
  });

  test.each([
    ['of somebody else', wordOf({ by: generateKeyPair() })],
    ['under another key', wordOf({ keyId: 'other' })],
    ['to another depot', wordOf({ to: 'd2' })],
    ['of a minute ago and more', wordOf({ timeMs: 60_001 })],
    ['beside another challenge', wordOf({ challenge: 'd'.repeat(43) })],
    ['that is none', 'A'.repeat(86)],
  ])('but not who comes with a word %s', (_, word) => {
    const { ask } = challenges();
    fill(ask);
    expect(ask(TARGET, '203.0.113.5', word).ok).toBe(false);
  });

  test('while who forges words has some hundred of them looked at', () => {
    const { ask, words } = challenges();
    const forged = wordOf({ by: generateKeyPair() });
    for (let time = 0; time < 1000; time += 1) ask(TARGET, '203.0.113.5', forged);
    expect(words()).toBe(300);
    expect(ask(TARGET, '198.51.100.1', wordOf()).ok).toBe(true);
  });
});

test('a depot that a stranger beside its master asks without end answers the master, from wherever that asks', async () => {
  const overlay = await startTestOverlay(['d1'], (_, response) => response.end());
  onTestFinished(() => overlay.close());
  const ask = async (localAddress: string, headers: Record<string, string> = {}) =>
    (await fetchRaw(overlay.depot('d1').url + TARGET, { localAddress, headers })).status;
  while ((await ask('127.0.0.9')) === 200);
  expect(await ask('127.0.0.1'), "at the master's address").toBe(200);
  const word = overlay.master.challengeWord('d1', CHALLENGE, overlay.nowSeconds() * 1000);
  expect(await ask('127.0.0.8', { 'Longhaul-Signature': word }), 'by its word').toBe(200);
  expect(await ask('127.0.0.8'), 'where it has been').toBe(200);
});
