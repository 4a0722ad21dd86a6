import { encodeBase64url, formatNoticeTarget, noticeText } from '@longhaul/shared';
import { generateKeyPair } from '@longhaul/shared/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchRaw } from '../testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from '../testing/overlay.ts';
import { PlanNotices } from './plan-notices.ts';

const NOW = 1_795_000_000_000;
const key = generateKeyPair();
const notices = new PlanNotices({
  ownId: 'd1',
  masterKey: (keyId) => (keyId === 'k' ? key.verify : undefined),
  isKnown: (id) => id === 'd2' || id === 'd1',
  nowMs: () => NOW,
});
const signed = ({ to = 'd1', next = 'd2', timeMs = NOW, keyId = 'k', by = key } = {}) => {
  const signature = encodeBase64url(by.sign(noticeText(to, { next, timeMs })));
  return formatNoticeTarget({ next, timeMs, keyId, signature });
};

describe('a notice', () => {
  test('of a master names the depot that a connection will be needed to', () => {
    expect(notices.read(signed())).toEqual({ ok: true, value: 'd2' });
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
    expect(notices.read(target)).toMatchObject({ ok: false, error: { code: 'bad-request' } });
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
