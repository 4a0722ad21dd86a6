import { expect, it, onTestFinished, vi } from 'vitest';
import type { PlanReply } from '../ask/ask-master.ts';
import type { Probe } from '../ask/probe-file.ts';
import { factsOf } from '../judge/file-facts.ts';
import type { Outcome } from '../judge/why-left.ts';
import { LastLeft } from '../take/last-left.ts';
import { FakeDownloads } from '../testing/fake-downloads.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { plan } from '../testing/plan.ts';
import { seenAnswer } from '../testing/seen-answer.ts';
import { settings } from '../testing/settings.ts';
import type { LinkOrder } from '../ways/way.ts';
import { downloadDirectly, downloadLink, leaveContained } from './download-link.ts';

const target = vi.hoisted(() => ({ isChromium: false }));
vi.mock('../browser/target.ts', () => target);

const LINK = 'https://origin.example/file.iso';
const FILE: Probe = { result: 'file', file: factsOf(200, seenAnswer().headers), name: 'real name.iso' };
/** What the origin itself says to a request without cookies. */
const AT_ORIGIN: Probe = { ...FILE, name: 'offered.iso' };

function setUp({
  reply,
  probe = FILE,
  begun = 'taken',
}: {
  reply?: PlanReply;
  probe?: Probe;
  begun?: Outcome;
}) {
  const downloads = new FakeDownloads();
  const lastLeft = new LastLeft(memoryArea());
  const orders: LinkOrder[] = [];
  const asked: string[] = [];
  const deps = {
    downloads,
    lastLeft,
    settings: async () => settings(),
    way: {
      begin: async (order: LinkOrder) => {
        orders.push(order);
        return begun;
      },
    },
    askMaster: async (_master: string, { url }: { url: string }): Promise<PlanReply> => {
      asked.push(url);
      return reply ?? { result: 'plan', plan: plan() };
    },
    probeFile: async (place: string) => (place === LINK ? AT_ORIGIN : probe),
    deadline: () => AbortSignal.timeout(1_000),
  };
  return { deps, downloads, lastLeft, orders, asked };
}

it('leads a link through the overlay under the name that the depot gives', async () => {
  const { deps, downloads, orders } = setUp({});
  expect(await downloadLink(`${LINK}#top`, 'https://page.example/', deps)).toBe('taken');
  expect(orders).toMatchObject([{ originUrl: LINK, name: 'real name.iso', page: 'https://page.example/' }]);
  expect(downloads.log).toEqual([]);
});

it.each<[string, { reply?: PlanReply; probe?: Probe }, string]>([
  ['the master is silent', { reply: { result: 'silent' } }, 'master-silent'],
  ['direct is best', { reply: { result: 'plan', plan: plan({ decision: 'direct' }) } }, 'direct-is-best'],
  [
    'the depot does not get it',
    { probe: { result: 'refused', code: 'origin-needs-login' } },
    'depot-refused',
  ],
  ['the depot is silent', { probe: { result: 'silent' } }, 'depot-silent'],
])('downloads it directly when %s, and keeps the reason', async (_when, answers, why) => {
  const { deps, downloads, lastLeft, orders } = setUp(answers);
  await downloadLink(LINK, '', deps);
  expect(orders).toEqual([]);
  expect(downloads.log).toEqual([`start ${LINK}#lh-direct as offered.iso`]);
  expect(await lastLeft.get()).toMatchObject({ name: 'file.iso', why });
});

it('tells nobody of a private host', async () => {
  const { deps, downloads, asked } = setUp({});
  await downloadLink('http://files.corp/a.iso', '', deps);
  expect(asked).toEqual([]);
  expect(downloads.log).toEqual(['start http://files.corp/a.iso#lh-direct as real name.iso']);
});

it('leaves a site with a tunnel to the browser, and tells nobody the address', async () => {
  const { deps, downloads, lastLeft, asked } = setUp({});
  const chosen = { ...deps, settings: async () => settings({ sitesTunnel: ['origin.example'] }) };
  await downloadLink(LINK, '', chosen);
  expect(asked).toEqual([]);
  expect(downloads.log).toEqual([`start ${LINK}#lh-direct as offered.iso`]);
  expect(await lastLeft.get()).toMatchObject({ why: 'tunnel' });
});

it('starts nothing twice when the way itself went back to the origin', async () => {
  const { deps, downloads } = setUp({ begun: { why: 'different-file' } });
  await downloadLink(LINK, '', deps);
  expect(downloads.log).toEqual([]);
});

it('downloads it directly where the browser has no room to remember it', async () => {
  const { deps, downloads, lastLeft } = setUp({ begun: { why: 'no-room' } });
  await downloadLink(LINK, '', deps);
  expect(downloads.log).toEqual([`start ${LINK}#lh-direct as offered.iso`]);
  expect(await lastLeft.get()).toMatchObject({ why: 'no-room' });
});

it('downloads it directly in Chromium where the browser starts none through the depots', async () => {
  target.isChromium = true;
  onTestFinished(() => {
    target.isChromium = false;
  });
  const { deps, downloads } = setUp({ begun: { why: 'depot-silent' } });
  await downloadLink(LINK, '', deps);
  expect(downloads.log).toEqual([`start ${LINK}#lh-direct`]);
});

it('downloads directly, in Firefox, as what the site offers it as and with the page that asked', async () => {
  const { deps, downloads } = setUp({});
  const link = 'https://origin.example/attachment.php?id=7';
  await downloadDirectly(`${link}#top`, 'https://origin.example/thread?p=2#post', deps);
  expect(downloads.started).toEqual({
    url: `${link}#lh-direct`,
    name: 'real name.iso',
    headers: { Referer: 'https://origin.example/thread?p=2' },
  });
  await downloadDirectly(link, 'https://forum.example/thread', {
    ...deps,
    probeFile: async () => ({ result: 'refused', code: '' }),
  });
  expect(downloads.started).toMatchObject({ name: '', headers: { Referer: 'https://forum.example/' } });
});

it('asks a signed address for nothing before: it may be good for one request', async () => {
  const { deps, downloads } = setUp({});
  const probes: string[] = [];
  const probeFile = async (url: string) => {
    probes.push(url);
    return FILE;
  };
  await downloadDirectly(`${LINK}?X-Amz-Signature=ab`, '', { ...deps, probeFile });
  expect(probes).toEqual([]);
  expect(downloads.started).toMatchObject({ url: `${LINK}?X-Amz-Signature=ab#lh-direct`, name: '' });
});

it('starts nothing of a container tab, and keeps the reason', async () => {
  const { downloads, lastLeft } = setUp({});
  await leaveContained('javascript:alert(1)', lastLeft);
  expect(await lastLeft.get()).toBeUndefined();
  await leaveContained(`${LINK}#top`, lastLeft);
  expect(await lastLeft.get()).toEqual({ name: 'file.iso', why: 'container', isUnstarted: true });
  expect(downloads.log).toEqual([]);
});

it.each(['javascript:alert(1)', 'data:text/plain,x', ''])('does nothing with %s', async (link) => {
  const { deps, downloads } = setUp({});
  await downloadLink(link, '', deps);
  await downloadDirectly(link, '', deps);
  expect(downloads.log).toEqual([]);
});
