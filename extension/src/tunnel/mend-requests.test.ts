import { expect, it } from 'vitest';
import type { RequestEvent } from '../browser/requests.ts';
import { download, FakeDownloads, NOW_MS } from '../testing/fake-downloads.ts';
import { MendRequests } from './mend-requests.ts';

const URL = 'https://members.example/files/a.iso';
const PAGE = { requestId: '1', url: URL, method: 'GET', type: 'main_frame', tabId: 7 };
const CUT = {
  state: 'interrupted',
  error: 'NETWORK_FAILED',
  canResume: true,
  bytesReceived: 9,
  referrer: '',
} as const;

type Status = number | undefined;

function start({ isTunnelDead = true, isTunnelled = true, statuses = [206] as Status[] } = {}) {
  const downloads = new FakeDownloads(download({ url: URL, ...CUT }));
  // A try that fails at once.
  downloads.onResume = async () => undefined;
  const opened: string[] = [];
  const blamed: boolean[] = [];
  const clock = { nowMs: NOW_MS };
  /** What the site was asked, and what was waited for. */
  const knocks: string[] = [];
  const mend = new MendRequests({
    downloads,
    now: () => clock.nowMs,
    knock: async (url, atByte) => {
      knocks.push(`${url} ${atByte}`);
      return statuses.length > 1 ? statuses.shift() : statuses[0];
    },
    pause: async (ms) => void knocks.push(`${ms} ms`),
    open: async (tabId, url) => void opened.push(`${tabId} ${url}`),
    tunnels: {
      failed: async (_url, isByProxy) => {
        blamed.push(isByProxy);
        return isTunnelDead;
      },
      prepare: async () => undefined,
      viewOf: async () => (isTunnelled ? { chain: ['d1'] } : undefined),
    },
  });
  return { mend, downloads, opened, blamed, clock, knocks };
}

const failed = (patch: Partial<RequestEvent>): RequestEvent => ({ ...PAGE, ...patch });

it.each([
  ['NS_ERROR_PROXY_CONNECTION_REFUSED', true],
  ['net::ERR_TUNNEL_CONNECTION_FAILED', true],
  ['net::ERR_PROXY_CONNECTION_FAILED', true],
  ['NS_ERROR_NET_RESET', false],
])('opens a page again whose tunnel died before an answer, after %s', async (error, isByProxy) => {
  const { mend, opened, blamed } = start();
  await mend.failed(failed({ error }));
  expect(opened).toEqual([`7 ${URL}`]);
  expect(blamed).toEqual([isByProxy]);
});

it('opens a page again of which nothing came but a question of the proxy for a ticket', async () => {
  const { mend, opened } = start();
  mend.answered(failed({ statusCode: 407 }));
  await mend.failed(failed({ error: 'net::ERR_TUNNEL_CONNECTION_FAILED' }));
  expect(opened).toEqual([`7 ${URL}`]);
});

it.each([
  { method: 'POST' },
  { type: 'sub_frame' },
  { tabId: -1 },
  { error: 'NS_BINDING_ABORTED' },
  { requestId: 'answered' },
])('does not repeat what could do harm, or what nobody waits for: %j', async (patch) => {
  const { mend, opened } = start();
  mend.answered(failed({ requestId: 'answered' }));
  await mend.failed(failed({ error: 'NS_ERROR_NET_RESET', ...patch }));
  expect(opened).toEqual([]);
});

it('opens a page of a site that is down no second time in its tab within half a minute', async () => {
  const { mend, opened, clock } = start();
  const error = 'NS_ERROR_CONNECTION_REFUSED';
  for (const requestId of ['1', '2', '3']) await mend.failed(failed({ requestId, error }));
  expect(opened).toEqual([`7 ${URL}`]);
  await mend.failed(failed({ requestId: '4', tabId: 8, error }));
  await mend.failed(failed({ requestId: '5', url: `${URL}?other`, error }));
  expect(opened).toEqual([`7 ${URL}`, `8 ${URL}`, `7 ${URL}?other`]);
  clock.nowMs += 30_000;
  await mend.failed(failed({ requestId: '6', error }));
  expect(opened).toHaveLength(4);
});

it('opens no page again whose site failed and not its tunnel', async () => {
  const { mend, opened } = start({ isTunnelDead: false });
  await mend.failed(failed({ error: 'NS_ERROR_NET_RESET' }));
  expect(opened).toEqual([]);
});

it('lets a download go on whose tunnel broke, four times without a byte between', async () => {
  const { mend, downloads, knocks } = start();
  for (let turn = 0; turn < 6; turn += 1) await mend.follow(1);
  expect(downloads.log).toEqual(Array.from({ length: 4 }, () => 'resume 1'));
  downloads.change(1, { bytesReceived: 10 });
  await mend.follow(1);
  expect(downloads.log).toHaveLength(5);
  expect([knocks[0], knocks.at(-1)]).toEqual([`${URL} 9`, `${URL} 10`]);
});

it.each([403, 404, 200, 416, 0])(
  'leaves the bytes of a download alone that its site does not give any more, as it says by %i',
  async (status) => {
    const { mend, downloads, knocks } = start({ statuses: [status] });
    await mend.follow(1);
    expect(knocks).toEqual([`${URL} 9`]);
    expect(downloads.log).toEqual([]);
  },
);

const UNSURE = [{ referrer: 'https://members.example/list' }, { isContained: true }, { bytesReceived: 0 }];

it.each(UNSURE)('resumes a download once where a refusal of the add-on says little: %j', async (patch) => {
  const { mend, downloads } = start({ statuses: [403] });
  downloads.change(1, patch);
  for (let turn = 0; turn < 6; turn += 1) await mend.follow(1);
  expect(downloads.log).toEqual(['resume 1']);
});

it.each(UNSURE)('waits for a network that is away, whoever the site gives it to: %j', async (patch) => {
  const { mend, downloads, knocks } = start({ statuses: [undefined, undefined, 403] });
  downloads.change(1, patch);
  await mend.follow(1);
  expect(knocks.filter((one) => one.endsWith('ms'))).toEqual(['1000 ms', '4000 ms']);
  expect(downloads.log).toEqual(['resume 1']);
});

it('asks for the bytes that were there though Firefox says 0 after a failed resumption', async () => {
  const { mend, downloads, knocks } = start({ statuses: [206, 503] });
  await mend.follow(1);
  downloads.change(1, { bytesReceived: 0 });
  await mend.follow(1);
  expect(knocks).toEqual([`${URL} 9`, `${URL} 9`]);
  expect(downloads.log).toEqual(['resume 1']);
});

it('lets a download go on when its site answers again, and asks for it less and less often', async () => {
  const silent = start({ statuses: [undefined] });
  await silent.mend.follow(1);
  const asked = `${URL} 9`;
  expect(silent.knocks.slice(0, -1)).toEqual([asked, '1000 ms', asked, '4000 ms', asked, '16000 ms', asked]);
  expect(silent.downloads.log).toEqual([]);
  const { mend, downloads, knocks } = start({ statuses: [undefined, undefined, 206] });
  await mend.follow(1);
  expect(knocks).toHaveLength(5);
  expect(downloads.log).toEqual(['resume 1']);
});

it('asks for nothing again that the user has ended meanwhile', async () => {
  const { mend, downloads, knocks } = start({ statuses: [undefined] });
  const following = mend.follow(1);
  downloads.change(1, { error: 'USER_CANCELED' });
  await following;
  expect(knocks.length).toBeLessThanOrEqual(2);
  expect(downloads.log).toEqual([]);
});

it.each([
  { error: 'USER_CANCELED' },
  { error: 'FILE_NO_SPACE' },
  { paused: true },
  { canResume: false },
  { state: 'in_progress' as const },
])('lets a download be that the user or the disk has stopped: %j', async (patch) => {
  const { mend, downloads } = start();
  downloads.change(1, patch);
  await mend.follow(1);
  expect(downloads.log).toEqual([]);
});

it('lets the downloads of other sites be', async () => {
  const { mend, downloads } = start({ isTunnelled: false });
  await mend.follow(1);
  expect(downloads.log).toEqual([]);
});
