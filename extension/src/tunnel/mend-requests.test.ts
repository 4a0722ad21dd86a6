import { expect, it } from 'vitest';
import type { RequestEvent } from '../browser/requests.ts';
import { download, FakeDownloads, NOW_MS } from '../testing/fake-downloads.ts';
import { MendRequests } from './mend-requests.ts';

const URL = 'https://members.example/files/a.iso';
const PAGE = { requestId: '1', url: URL, method: 'GET', type: 'main_frame', tabId: 7 };
const CUT = { state: 'interrupted', error: 'NETWORK_FAILED', canResume: true, bytesReceived: 9 } as const;

function start({ isTunnelDead = true, isTunnelled = true } = {}) {
  const downloads = new FakeDownloads(download({ url: URL, ...CUT }));
  // A try that fails at once.
  downloads.onResume = async () => undefined;
  const opened: string[] = [];
  const blamed: boolean[] = [];
  const clock = { nowMs: NOW_MS };
  const mend = new MendRequests({
    downloads,
    now: () => clock.nowMs,
    open: async (tabId, url) => void opened.push(`${tabId} ${url}`),
    tunnels: {
      failed: async (_url, isByProxy) => {
        blamed.push(isByProxy);
        return isTunnelDead;
      },
      viewOf: async () => (isTunnelled ? { chain: ['d1'] } : undefined),
    },
  });
  return { mend, downloads, opened, blamed, clock };
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

it('lets a download go on whose tunnel broke, three times without a byte between', async () => {
  const { mend, downloads } = start();
  for (let turn = 0; turn < 5; turn += 1) await mend.follow(1);
  expect(downloads.log).toEqual(['resume 1', 'resume 1', 'resume 1']);
  downloads.change(1, { bytesReceived: 10 });
  await mend.follow(1);
  expect(downloads.log).toHaveLength(4);
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
