import { addressProofText, decodeBase64url, formatChallengeTarget, ok } from '@longhaul/shared';
import { generateKeyPair } from '@longhaul/shared/service';
import { describe, expect, test } from 'vitest';
import { AddressChallenges } from './address-challenges.ts';

const CHALLENGE = 'c'.repeat(43);
const TARGET = formatChallengeTarget(CHALLENGE);
const key = generateKeyPair();
const place = { host: 'd1.example', port: 443, tls: true };

function challenges() {
  let nowMs = 0;
  const sign = (text: string) => Buffer.from(key.sign(text)).toString('base64url');
  const answering = new AddressChallenges({
    identity: { id: 'd1', publicKey: key.publicKey, sign, agree: () => undefined },
    place: () => place,
    nowMs: () => nowMs,
  });
  return {
    ask: (target = TARGET, from = '192.0.2.1') => answering.answer(target, from),
    passMinute: () => {
      nowMs += 60_000;
    },
  };
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
