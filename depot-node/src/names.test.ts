import { request } from 'node:http';
import { HEADERS } from '@longhaul/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exchangeText, fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { startTestDns, type TestDns, type TestName } from './testing/test-dns.ts';

/** A client of another network than 127.0.0.1's. */
const ELSEWHERE = '127.0.1.1';
const SILENT: TestName = { A: 'silent', AAAA: 'silent' };
const MANY = Array.from({ length: 210 }, (_, index) => `silent${index}.test`);

let dns: TestDns;
let overlay: TestOverlay;
beforeEach(async () => {
  dns = await startTestDns({
    ...Object.fromEntries(MANY.map((name) => [name, SILENT])),
    'file.test': { A: ['127.0.0.1'] },
  });
  overlay = await startTestOverlay([], (_, response) => response.end('the file'));
  const config = { resolver: { servers: [dns.server] }, failover: { patienceSeconds: 30 } };
  for (const id of ['d2', 'd1']) await overlay.addDepot(id, config);
});
afterEach(async () => {
  await overlay.close();
  await dns.close();
});

const urlAt = (name: string) => `http://${name}:${new URL(overlay.originUrl).port}/file`;
const BUSY = { status: 503, code: 'resolver-busy', retryAfter: '5' };
const LED = { status: 307, code: 'resolver-busy', retryAfter: undefined };

async function codeOf(url: string, range?: string) {
  const asked = range === undefined ? {} : { headers: { range, 'if-range': '"v1"' } };
  const { status, headers } = await fetchRaw(url, asked);
  return { status, code: headers[HEADERS.error], retryAfter: headers['retry-after'] };
}

/** Downloads from all the silent names, once one of them has been refused; `leave` gives up the others. */
async function flood(names: readonly string[], chain = ['d1']): Promise<{ readonly leave: () => void }> {
  const asked = names.map((name) =>
    request(overlay.relayUrl(urlAt(name), { chains: [chain] }, 'd1'), { agent: false }),
  );
  const answered = asked.map((one) => {
    one.on('error', () => {});
    one.end();
    return new Promise((resolve) => one.once('response', resolve));
  });
  await Promise.race(answered);
  return {
    leave: () => {
      for (const one of asked) one.destroy();
    },
  };
}

test('a client that asks for names whose DNS is silent is led to the origin, or told to wait, and nobody else is', async () => {
  const { leave } = await flood(MANY.slice(0, 40));
  const file = () => overlay.relayUrl(urlAt('file.test'), { chains: [['d1']] }, 'd1');
  expect(await codeOf(file())).toEqual(LED);
  expect(await codeOf(file(), 'bytes=7-')).toEqual(BUSY);
  expect((await fetchRaw(file(), { localAddress: ELSEWHERE })).body.toString()).toBe('the file');
  const metrics = (await fetchRaw(`${overlay.depot('d1').url}/metrics`)).body.toString();
  expect(metrics).toMatch(/longhaul_depot_refusals_total\{code="resolver-busy"\} [1-9]/);
  leave();
});

test('a tunnel of a client counts as its downloads do', async () => {
  const { leave } = await flood(MANY.slice(0, 40));
  const ticket = overlay.ticket(urlAt('file.test'), { kind: 'tunnel', chains: [['d1']] });
  const { host } = new URL(urlAt('file.test'));
  const answer = await exchangeText(
    overlay.depot('d1').url,
    `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\nProxy-Authorization: Longhaul ${ticket}\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 503 .*\r\nlonghaul-error: resolver-busy\r\n/is);
  leave();
});

test('clients that leave take their look-ups along', async () => {
  const { leave } = await flood(MANY.slice(0, 40));
  const file = overlay.relayUrl(urlAt('file.test'), { chains: [['d1']] }, 'd1');
  expect(await codeOf(file)).toEqual(LED);
  leave();
  await expect.poll(async () => (await fetchRaw(file)).body.toString()).toBe('the file');
});

test('an exit depot that looks up enough sends the download another way', async () => {
  const chains = [['d1', 'd2'], ['d1']];
  const many = Array.from({ length: 250 }, (_, index) => `far${index}.test`);
  dns.names = { ...dns.names, ...Object.fromEntries(many.map((name) => [name, SILENT])) };
  const asked = many.map((name, index) => {
    // Of ten client networks: none of them alone would get so far.
    const localAddress = `127.0.${10 + (index % 10)}.1`;
    const one = request(overlay.relayUrl(urlAt(name), { chains: [['d1', 'd2']] }, 'd1'), {
      agent: false,
      localAddress,
    });
    one.on('error', () => {}).end();
    return one;
  });
  const failed = () => overlay.depot('d1').events.filter(({ type }) => type === 'chain-failed');
  await expect
    .poll(failed, { timeout: 10_000 })
    .toContainEqual(expect.objectContaining({ code: 'resolver-busy', depot: 'd2' }));
  const url = overlay.relayUrl(urlAt('file.test'), { chains }, 'd1');
  expect((await fetchRaw(url, { localAddress: ELSEWHERE })).body.toString()).toBe('the file');
  for (const one of asked) one.destroy();
});

test('a client that asks for silent names through a chain leaves the next depot room for others', async () => {
  const chain = ['d1', 'd2'];
  const { leave } = await flood(MANY, chain);
  const url = overlay.relayUrl(urlAt('file.test'), { chains: [chain] }, 'd1');
  expect((await fetchRaw(url, { localAddress: ELSEWHERE })).body.toString()).toBe('the file');
  const { events } = overlay.depot('d1');
  const given = () => events.find((event) => event.type === 'transfer' && event.status === 200);
  await expect.poll(given).toMatchObject({ chain });
  // However many of its chains are built, the next depot never says that it looks up enough.
  const codes = events.flatMap((event) => ('code' in event ? [event.code] : []));
  expect(codes).toContain('origin-unresolvable');
  expect(codes).not.toContain('resolver-busy');
  leave();
});
