import { expect, it } from 'vitest';
import type { DownloadStart } from '../browser/downloads.ts';
import type { RequestEvent } from '../browser/requests.ts';
import { location } from '../testing/plan.ts';
import { Rescue } from './rescue.ts';

const MASTER = 'https://master.example';
const LINK = `${MASTER}/get/https/origin.example:443/file.iso?x=a%2Fb`;
const DIRECT = 'https://origin.example/file.iso?x=a%2Fb#lh-direct';

/** As depots spell it; browsers hand it on as it came. */
const OF_DEPOT = [{ name: 'Longhaul-Depot', value: 'pe-1' }];
const BLOCKED = 'https://block.corp/why?url=depot';

function setUp(master = MASTER) {
  const log: string[] = [];
  const starts: DownloadStart[] = [];
  const rescue = new Rescue({
    master: async () => master,
    masterIsDown: async () => void log.push('down'),
    depotIsSilent: async (place) => void log.push(`silent ${place}`),
    downloadInstead: async (start, { tabId }) => {
      log.push(`${start.url} in place of tab ${tabId}`);
      starts.push(start);
    },
  });
  return { log, rescue, starts };
}

const event = (patch: Partial<RequestEvent> = {}): RequestEvent => ({
  requestId: '1',
  url: LINK,
  method: 'GET',
  tabId: 7,
  ...patch,
});

it('downloads directly what a master that does not answer was asked for, and leads nothing there any more', async () => {
  for (const failure of [{ error: 'net::ERR_CONNECTION_REFUSED' }, { statusCode: 502 }]) {
    const { log, rescue } = setUp();
    await rescue.asked(event());
    await ('error' in failure ? rescue.failed(event(failure)) : rescue.answered(event(failure)));
    expect(log).toEqual(['down', `${DIRECT} in place of tab 7`]);
  }
});

it('downloads directly what the master refuses, and goes on leading', async () => {
  const { log, rescue } = setUp();
  await rescue.asked(event());
  await rescue.answered(event({ statusCode: 403 }));
  expect(log).toEqual([`${DIRECT} in place of tab 7`]);
});

it('downloads directly what a depot does not give, wherever it was led there from', async () => {
  for (const how of ['by the master', 'before']) {
    const { log, rescue } = setUp();
    if (how === 'before') rescue.led('1', 'https://origin.example/file.iso?x=a%2Fb');
    else await rescue.asked(event());
    await rescue.asked(event({ url: location() }));
    const refusal = event({ url: location(), statusCode: 503, responseHeaders: OF_DEPOT });
    await rescue.answered(refusal);
    await rescue.answered(refusal);
    expect(log).toEqual([`${DIRECT} in place of tab 7`]);
  }
});

it('leads to no depot any more that does not answer, and downloads directly', async () => {
  const { log, rescue } = setUp();
  await rescue.asked(event());
  await rescue.asked(event({ url: location() }));
  await rescue.failed(event({ url: location(), error: 'net::ERR_CONNECTION_TIMED_OUT' }));
  expect(log).toEqual([`silent ${location()}`, `${DIRECT} in place of tab 7`]);
});

it('downloads directly, in Firefox, as what the held answer offered and with the page that asked', async () => {
  const { rescue, starts } = setUp();
  rescue.led('1', 'https://origin.example/get.php', 'offered.iso');
  await rescue.answered(event({ url: location(), statusCode: 503, originUrl: 'https://page.example/list' }));
  expect(starts).toEqual([
    {
      url: 'https://origin.example/get.php#lh-direct',
      name: 'offered.iso',
      headers: { Referer: 'https://page.example/' },
    },
  ]);
});

it.each<[string, Partial<RequestEvent>, boolean]>([
  ['a download that goes well', { url: location(), statusCode: 200, responseHeaders: OF_DEPOT }, true],
  ['what the user ends himself', { error: 'net::ERR_ABORTED' }, true],
  ['what the master has sent back', { url: DIRECT, statusCode: 404 }, true],
  ['the page of somebody else', { url: 'https://page.example/', statusCode: 500 }, false],
  ["a depot's address that nobody was led to", { url: location(), statusCode: 410 }, false],
  ["a network's own page that nobody was led to", { url: 'https://block.corp/', statusCode: 200 }, false],
  ["the origin's own answer", { url: DIRECT, statusCode: 200 }, true],
])('leaves %s alone', async (_what, patch, isLed) => {
  const { log, rescue } = setUp();
  if (isLed) await rescue.asked(event());
  await ('error' in patch ? rescue.failed(event(patch)) : rescue.answered(event(patch)));
  expect(log).toEqual([]);
});

it("downloads directly in place of a network's own page, which answers as the master or as a depot, and leads there no more", async () => {
  const SILENT = `silent ${location()}`;
  const pages: [Partial<RequestEvent>, string[]][] = [
    [{ url: LINK, statusCode: 200 }, ['down']],
    [{ url: location(), statusCode: 200 }, [SILENT]],
    [{ url: location(), statusCode: 304 }, [SILENT]],
    [{ url: location(), statusCode: 403 }, [SILENT]],
    [{ url: BLOCKED, statusCode: 200 }, [SILENT]],
    [{ url: BLOCKED, statusCode: 403 }, [SILENT]],
    [{ url: BLOCKED, error: 'net::ERR_CONNECTION_RESET' }, [SILENT]],
  ];
  for (const [page, noted] of pages) {
    const { log, rescue } = setUp();
    const answer = event({ responseHeaders: [{ name: 'Content-Type', value: 'text/html' }], ...page });
    await rescue.asked(event());
    await rescue.asked(event({ url: location() }));
    await rescue.asked(answer);
    await ('error' in page ? rescue.failed(answer) : rescue.answered(answer));
    expect(log).toEqual([...noted, `${DIRECT} in place of tab 7`]);
  }
});

it('downloads directly what the master refuses for its length', async () => {
  const long = `/a.zip?ids=${'1,'.repeat(5_000)}`;
  const { log, rescue } = setUp();
  const url = `https://master.example/get/https/origin.example${long}`;
  await rescue.asked(event({ url }));
  await rescue.answered(event({ url, statusCode: 400 }));
  expect(log).toEqual([`https://origin.example${long}#lh-direct in place of tab 7`]);
});

it('takes no depot for silent that nobody was led to yet, or that has led back to the master', async () => {
  for (const ways of [[], [location(), LINK]]) {
    const { log, rescue } = setUp();
    for (const url of [LINK, ...ways, BLOCKED]) await rescue.asked(event({ url }));
    await rescue.answered(event({ url: BLOCKED, statusCode: 200 }));
    expect(log).toEqual([`${DIRECT} in place of tab 7`]);
  }
});

it('leaves what was sent back to the origin to it, also where it leads that on to somebody else', async () => {
  for (const statusCode of [200, 404]) {
    const { log, rescue } = setUp();
    await rescue.asked(event());
    await rescue.asked(event({ url: location() }));
    await rescue.asked(event({ url: DIRECT }));
    await rescue.asked(event({ url: 'https://mirror.example/file.iso' }));
    await rescue.answered(event({ url: 'https://mirror.example/file.iso', statusCode }));
    expect(log).toEqual([]);
  }
});

it("leaves the add-on's own downloads to those who look after them, at the master and at a depot", async () => {
  for (const url of [LINK, location()]) {
    const { log, rescue } = setUp();
    await rescue.asked(event({ tabId: -1 }));
    await rescue.failed(event({ url, tabId: -1, error: 'NS_ERROR_NET_RESET' }));
    await rescue.asked(event({ requestId: '2', tabId: -1 }));
    await rescue.answered(event({ requestId: '2', url, tabId: -1, statusCode: 503 }));
    expect(log).toEqual([]);
  }
});

it('does nothing while nothing is led', async () => {
  const { log, rescue } = setUp('');
  await rescue.asked(event());
  await rescue.failed(event({ error: 'net::ERR_CONNECTION_REFUSED' }));
  expect(log).toEqual([]);
});
