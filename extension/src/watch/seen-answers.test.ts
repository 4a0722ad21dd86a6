import { expect, it } from 'vitest';
import type { RequestEvent } from '../browser/requests.ts';
import { SeenAnswers } from './seen-answers.ts';

const URL = 'https://origin.example/report';
const SIGNED = 'https://bucket.example/x?X-Amz-Signature=ab';

const event = (patch: Partial<RequestEvent> = {}): RequestEvent => ({
  requestId: '1',
  url: URL,
  method: 'GET',
  tabId: 7,
  statusCode: 200,
  responseHeaders: [{ name: 'ETag', value: '"v1"' }],
  ...patch,
});

/** One who waits for answers as long as it takes; what is to happen before is told while events settle. */
function patient(meanwhile: () => void = () => undefined): SeenAnswers {
  let pauses = 0;
  return new SeenAnswers(async () => {
    pauses += 1;
    if (pauses % 2 === 0) return new Promise(() => undefined);
    meanwhile();
  });
}
const hasty = () => new SeenAnswers(async () => undefined);

it('knows the answer that became a download, with page and address', async () => {
  const answers = patient();
  answers.asked(event());
  answers.answered(event({ initiator: 'https://page.example', ip: '203.0.113.7' }));
  const seen = await answers.answerTo(`${URL}#part`);
  expect(seen).toMatchObject({ method: 'GET', status: 200, isFromTab: true, address: '203.0.113.7' });
  expect(seen?.page).toBe('https://page.example');
  expect(seen?.headers.get('etag')).toBe('"v1"');
});

it('waits for a request that is told later than its download, as in Firefox, and for the answer', async () => {
  const answers = patient(() => answers.asked(event()));
  const seen = answers.answerTo(URL);
  answers.answered(event());
  expect(await seen).toMatchObject({ status: 200 });
});

it('never takes the page with a form for the answer to the form, which has the same address', async () => {
  const answers = patient(() => answers.asked(event({ requestId: '2', method: 'POST' })));
  answers.asked(event());
  answers.answered(event());
  const seen = answers.answerTo(URL);
  answers.answered(event({ requestId: '2', method: 'POST' }));
  expect(await seen).toMatchObject({ method: 'POST' });
});

it('knows nothing of what was never asked, failed, or is not answered in time', async () => {
  const answers = hasty();
  expect(await answers.answerTo(URL)).toBeUndefined();
  answers.asked(event());
  expect(await answers.answerTo(URL)).toBeUndefined();
  answers.failed(event());
  expect(await answers.answerTo(URL)).toBeUndefined();
});

it('follows redirects, and knows an answer although it slept when the request began', async () => {
  const answers = patient();
  answers.asked(event());
  answers.asked(event({ url: 'https://cdn.example/x' }));
  answers.answered(event({ url: 'https://cdn.example/x' }));
  answers.answered(event({ requestId: '2', url: 'https://late.example/x' }));
  expect(await answers.answerTo('https://cdn.example/x')).toMatchObject({ status: 200 });
  expect(await answers.answerTo('https://late.example/x')).toMatchObject({ status: 200 });
});

it('takes what a form was led to by redirects for the answer to that form', async () => {
  const answers = patient();
  const led = 'https://origin.example/exports/7f3c9e/report.zip';
  answers.asked(event({ method: 'POST' }));
  answers.redirected(event({ method: 'POST', statusCode: 303 }));
  answers.asked(event({ url: led }));
  answers.answered(event({ url: led }));
  expect(await answers.answerTo(led)).toMatchObject({ method: 'POST', status: 200 });
});

it("tells the answer to the add-on's own request, to nobody else's", async () => {
  const answers = patient();
  const own = answers.nextOwnAnswer(URL);
  answers.asked(event());
  answers.answered(event({ statusCode: 500 }));
  answers.asked(event({ requestId: '2', tabId: -1 }));
  answers.asked(event({ requestId: '2', tabId: -1, url: 'https://depot.example/report?ticket' }));
  answers.answered(event({ requestId: '2', tabId: -1, url: 'https://depot.example/report?ticket' }));
  expect(await own).toMatchObject({ status: 200, isFromTab: false });
});

it('tells the answer to everybody who waits for one from the same address', async () => {
  const answers = patient();
  const both = [answers.nextOwnAnswer(URL), answers.nextOwnAnswer(URL)];
  answers.asked(event({ tabId: -1 }));
  answers.answered(event({ tabId: -1 }));
  expect(await Promise.all(both)).toMatchObject([{ status: 200 }, { status: 200 }]);
});

it("does not take a proxy's address for the server's", async () => {
  const answers = patient();
  answers.answered(event({ ip: '10.0.0.1', proxyInfo: { host: 'proxy.example' } }));
  expect((await answers.answerTo(URL))?.address).toBeUndefined();
});

it.each([
  ['without an address, as in Firefox', { fromCache: true, ip: null }, true],
  ['with the address that it came from', { fromCache: true, ip: '203.0.113.7' }, false],
  ['after its server was asked', { fromCache: false }, false],
])('knows of an answer out of the cache %s whether it is known from where', async (_how, patch, isCached) => {
  const answers = patient();
  answers.asked(event());
  answers.answered(event(patch));
  expect(await answers.answerTo(URL)).toMatchObject({ isCached });
});

it('knows whether what led to a signed address is out of the cache, which is told in its place', async () => {
  const answers = patient();
  const ledTo = async (requestId: string, url: string) => {
    answers.asked(event({ requestId }));
    answers.redirected(event({ requestId, fromCache: true }));
    answers.asked(event({ requestId, url }));
    answers.answered(event({ requestId, url, ip: '203.0.113.7' }));
    return answers.answerTo(url);
  };
  expect(await ledTo('1', SIGNED)).toMatchObject({ isCached: true });
  expect(await ledTo('2', 'https://mirror.example/x')).toMatchObject({ isCached: false });
});

it.each([
  ['socks', true],
  ['socks4', true],
  ['https', false],
])('knows of a proxy of the type %s on the way whether it is one of SOCKS', async (type, isBySocks) => {
  const answers = patient();
  answers.asked(event({ proxyInfo: { type } }));
  answers.answered(event({ url: 'https://cdn.example/x' }));
  answers.answered(event({ requestId: '2', proxyInfo: { type } }));
  expect(await answers.answerTo(URL)).toMatchObject({ isBySocks });
});

it('remembers a bounded number of requests', async () => {
  const answers = patient();
  answers.answered(event());
  for (let id = 2; id <= 201; id += 1) {
    answers.answered(event({ requestId: String(id), url: `https://other.example/${id}` }));
  }
  expect(await answers.answerTo(URL)).toBeUndefined();
});

it('remembers what redirects to a signed address began with, how, and where that is', async () => {
  const answers = patient();
  answers.asked(event({ method: 'POST' }));
  answers.redirected(event({ method: 'POST', ip: '10.0.0.7' }));
  answers.asked(event({ url: 'https://middle.example/x' }));
  answers.redirected(event({ url: 'https://middle.example/x', ip: '203.0.113.8' }));
  answers.asked(event({ url: SIGNED }));
  answers.answered(event({ url: SIGNED, ip: '203.0.113.7' }));
  expect(await answers.answerTo(SIGNED)).toMatchObject({
    method: 'POST',
    address: '203.0.113.7',
    first: { url: URL, address: '10.0.0.7' },
  });
});

it('remembers what all redirects to a signed address say of who may have it', async () => {
  const answers = patient();
  const says = (value: string) => ({ responseHeaders: [{ name: 'Cache-Control', value }] });
  answers.asked(event());
  answers.redirected(event(says('no-store')));
  answers.asked(event({ url: 'https://middle.example/x' }));
  answers.redirected(event({ url: 'https://middle.example/x', ...says('private') }));
  answers.asked(event({ url: SIGNED }));
  answers.answered(event({ url: SIGNED }));
  const seen = await answers.answerTo(SIGNED);
  expect(seen?.first?.headers?.get('cache-control')).toBe('no-store, private');
});

it('takes an address with a key in it for one that must not be told, as it does a signed one', async () => {
  const answers = patient();
  const keyed = `${URL}?api_key=0123456789abcdef`;
  answers.answered(event({ url: keyed }));
  expect((await answers.answerTo(keyed))?.first?.url).toBe(keyed);
});

it('knows of a signed address itself alone, where it was linked or slept while redirects led there', async () => {
  const answers = patient();
  answers.answered(event({ url: SIGNED }));
  expect((await answers.answerTo(SIGNED))?.first?.url).toBe(SIGNED);
});
