import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { plan } from '../testing/plan.ts';
import { serve } from '../testing/serve.ts';
import { askMaster, isHealthyMaster } from './ask-master.ts';

const request = { url: 'https://origin.example/file.iso', sizeBytes: 50_000_000 };
const patient = new AbortController().signal;

it('asks for the plan of the download, as JSON and without anything about the user', async () => {
  let asked: unknown;
  const master = await serve((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    void text(incoming).then((body) => {
      asked = { line: `${method} ${url}`, body: JSON.parse(body) };
      return outgoing.end(JSON.stringify(plan()));
    });
    expect(headers.cookie).toBeUndefined();
    expect(headers.referer).toBeUndefined();
  });
  expect(await askMaster(master, request, patient)).toMatchObject({ result: 'plan', plan: plan() });
  expect(asked).toEqual({ line: 'POST /v1/plans', body: request });
});

it('takes a plan whose reason only newer masters tell', async () => {
  const newer = { ...plan({ decision: 'direct', chain: [] }), decisionReason: 'why-not' };
  const master = await serve((_incoming, outgoing) => outgoing.end(JSON.stringify(newer)));
  expect(await askMaster(master, request, patient)).toMatchObject({
    result: 'plan',
    plan: { ...newer, decisionReason: 'no-gain' },
  });
});

it("hands on the master's own code and sentence when it refuses", async () => {
  const error = { code: 'origin-not-allowed', message: 'Ask the operator.', retry: false };
  const master = await serve((_incoming, outgoing) => outgoing.writeHead(403).end(JSON.stringify({ error })));
  expect(await askMaster(master, request, patient)).toEqual({
    result: 'refused',
    code: 'origin-not-allowed',
    message: 'Ask the operator.',
  });
});

it.each([
  ['an error of its own kind', 500, JSON.stringify(plan())],
  ['something else than JSON', 200, '<p>hello'],
  ['a plan without a location', 200, JSON.stringify({ ...plan(), location: undefined })],
  ['a location that is no web address', 200, JSON.stringify(plan({ location: 'javascript:alert(1)' }))],
])('takes nobody for a master who answers %s', async (_what, status, body) => {
  const master = await serve((_incoming, outgoing) => outgoing.writeHead(status).end(body));
  expect(await askMaster(master, request, patient)).toEqual({ result: 'no-master', status });
});

it('tells a master without TLS of no address that is asked for under TLS', async () => {
  let asked = 0;
  const fetched = globalThis.fetch;
  globalThis.fetch = () => {
    asked += 1;
    return Promise.reject(new Error('asked'));
  };
  try {
    expect(await askMaster('http://master.example', request, patient)).toEqual({ result: 'insecure' });
    expect(asked).toBe(0);
    const plain = { ...request, url: 'http://origin.example/file.iso' };
    expect(await askMaster('http://master.example', plain, patient)).toEqual({ result: 'silent' });
    expect(await askMaster('https://master.example', request, patient)).toEqual({ result: 'silent' });
    expect(asked).toBe(2);
  } finally {
    globalThis.fetch = fetched;
  }
});

it('follows no redirect', async () => {
  const other = await serve((_incoming, outgoing) => outgoing.end(JSON.stringify(plan())));
  const master = await serve((_incoming, outgoing) => outgoing.writeHead(307, { location: other }).end());
  expect(await askMaster(master, request, patient)).toEqual({ result: 'silent' });
});

it('has no plan when nobody listens there', async () => {
  expect(await askMaster('http://127.0.0.1:1', request, patient)).toEqual({ result: 'silent' });
});

it('waits no longer than it may', async () => {
  const time = new AbortController();
  const master = await serve((incoming) => void once(incoming.resume(), 'end').then(() => time.abort()));
  expect(await askMaster(master, request, time.signal)).toEqual({ result: 'silent' });
});

it.each([
  ['says so', 200, 'ok\n', true],
  ['says so without the end of a line', 200, 'ok', true],
  ['says that it is not', 503, 'starting\n', false],
  [
    "does not answer, but a network's own page in its place",
    200,
    '<!doctype html><title>Log in</title>',
    false,
  ],
])('takes a master for well or not which %s', async (_what, status, body, isWell) => {
  const master = await serve((_incoming, outgoing) => outgoing.writeHead(status).end(body));
  expect(await isHealthyMaster(master, patient)).toBe(isWell);
});
