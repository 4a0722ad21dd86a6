import { encodeBase64url, formatNoticeTarget, formatWayTarget, noticeText, wayText } from '@longhaul/shared';
import { FailedChecks, generateKeyPair } from '@longhaul/shared/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchRaw } from '../testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from '../testing/overlay.ts';
import { PlanNotices } from './plan-notices.ts';

const NOW = 1_795_000_000_000;
const key = generateKeyPair();
const [STRANGER, MASTER] = ['198.51.100.7', '198.51.100.8'];
let checks = 0;
const makeNotices = () =>
  new PlanNotices({
    ownId: 'd1',
    masterKey: (keyId) => {
      if (keyId !== 'k') return undefined;
      return (text, signature) => {
        checks += 1;
        return key.verify(text, signature);
      };
    },
    failedChecks: new FailedChecks({ isOwn: (address) => address === MASTER, nowMs: () => NOW }),
    isKnown: (id) => id === 'd2' || id === 'd1',
    nowMs: () => NOW,
  });
const notices = makeNotices();
const signed = ({ to = 'd1', next = 'd2', timeMs = NOW, keyId = 'k', by = key } = {}) => {
  const signature = encodeBase64url(by.sign(noticeText(to, { next, timeMs })));
  return formatNoticeTarget({ next, timeMs, keyId, signature });
};

describe('a notice', () => {
  test('of a master names the depot that a connection will be needed to', () => {
    expect(notices.read(signed(), STRANGER)).toEqual({ ok: true, value: 'd2' });
  });

  test.each([
    ['of somebody else', signed({ by: generateKeyPair() })],
    ['under a key that is not known', signed({ keyId: 'other' })],
    ['for another depot', signed({ to: 'd3' })],
    ['of a minute ago and more', signed({ timeMs: NOW - 60_001 })],
    ['of a depot that is not known', signed({ next: 'd9' })],
    ['of this depot itself', signed({ next: 'd1' })],
    ['that is none', '/.well-known/longhaul-notice?next=d2'],
  ])('%s is refused', (_, target) => {
    expect(notices.read(target, STRANGER)).toMatchObject({ ok: false, error: { code: 'bad-request' } });
  });
});

describe('of a network that brings forged notices', () => {
  const forger = generateKeyPair();
  const way = {
    origin: { scheme: 'http', host: 'origin.example', port: 80 },
    client: '192.0.2.0/24',
    ticket: `e.e.${'A'.repeat(86)}`,
  } as const;
  const signature = encodeBase64url(forger.sign(wayText('d1', { ...way, timeMs: NOW })));
  const forgedWay = formatWayTarget({ ...way, timeMs: NOW, keyId: 'k', signature });

  test('no more signatures are checked than its budget, while a master in it is heard', () => {
    const bounded = makeNotices();
    const before = checks;
    for (let time = 0; time < 3_000; time += 1) {
      const from = `198.51.100.${100 + (time % 20)}`;
      if (time % 2 === 0) bounded.read(signed({ by: forger }), from);
      else bounded.readWay(forgedWay, from);
    }
    expect(checks - before, 'for the whole network').toBe(2_400);
    expect(bounded.read(signed(), STRANGER)).toMatchObject({
      error: { code: 'signature-checks-spent', status: 429 },
    });
    expect(bounded.readWay(forgedWay, STRANGER)).toMatchObject({ error: { code: 'signature-checks-spent' } });
    expect(bounded.read(signed(), MASTER)).toEqual({ ok: true, value: 'd2' });
    expect(bounded.read(signed(), '203.0.113.7')).toEqual({ ok: true, value: 'd2' });
  });
});

describe('a depot', () => {
  let overlay: TestOverlay;
  beforeAll(async () => {
    const config = { limits: { spareLegs: 0 } };
    overlay = await startTestOverlay(['d1', 'd2'], (_, response) => response.end('file'), undefined, {
      config,
    });
  });
  afterAll(() => overlay.close());
  const tell = (to: string, next: string) =>
    fetchRaw(
      overlay.depot(to).url +
        formatNoticeTarget(overlay.master.notice(to, next, overlay.nowSeconds() * 1000)),
    );
  const legs = () =>
    overlay.depot('d1').events.flatMap((event) => (event.type === 'leg' ? [event.start] : []));

  test('that a master tells of a plan has the connection before the client comes, though it keeps none ready', async () => {
    expect((await tell('d1', 'd2')).status).toBe(204);
    const url = () => overlay.relayUrl(`${overlay.originUrl}/file`);
    expect(String((await fetchRaw(url())).body)).toBe('file');
    expect(legs()).toEqual(['spare']);
    await fetchRaw(url());
    expect(legs()).toEqual(['spare', 'dialled']);
  });

  test('takes no notice that is meant for another one', async () => {
    const target = formatNoticeTarget(overlay.master.notice('d3', 'd2', overlay.nowSeconds() * 1000));
    const { status, headers } = await fetchRaw(overlay.depot('d1').url + target);
    expect([status, headers['longhaul-error']]).toEqual([400, 'bad-request']);
  });
});
