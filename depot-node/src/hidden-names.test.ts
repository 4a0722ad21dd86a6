import { HEADERS } from '@longhaul/shared';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { startTestDns, type TestDns } from './testing/test-dns.ts';

let overlay: TestOverlay;
/** Whether the origin speaks no HTTP. */
let isGarbage: boolean;
/** One that hides public servers, as filters do, and one that does not. */
let [hiding, telling]: TestDns[] = [];

beforeEach(async () => {
  const inside = { A: ['10.0.0.1'] };
  const here = { A: ['127.0.0.1'] };
  hiding = await startTestDns({ 'files.test': inside, router: inside, 'www.test': here });
  telling = await startTestDns({ 'files.test': here, 'www.test': here });
  isGarbage = false;
  overlay = await startTestOverlay([], ({ headers: { host = '' }, socket }, response) => {
    if (isGarbage) return void socket.end('nonsense\r\n\r\n');
    if (host.startsWith('www.'))
      response.writeHead(302, { Location: `http://${host.replace('www', 'files')}/file` });
    response.end('the file');
  });
  await overlay.addDepot('d2', { resolver: { servers: [telling.server] } });
  await overlay.addDepot('d3', { resolver: { servers: [hiding.server] } });
  await overlay.addDepot('d1', { resolver: { servers: [hiding.server] } });
});
afterEach(async () => {
  await overlay.close();
  await hiding?.close();
  await telling?.close();
});

async function download(chains: readonly (readonly string[])[], host = 'files.test', headers = {}) {
  const url = `http://${host}:${new URL(overlay.originUrl).port}/file`;
  const answer = await fetchRaw(overlay.relayUrl(url, { chains }, 'd1'), { headers });
  const { status, body, headers: answered } = answer;
  return { status, code: answered[HEADERS.error], location: answered.location, body: body.toString() };
}

describe('a name for which the entry depot has only a private address', () => {
  test('is asked for over the other chains', async () => {
    const chains = [['d1'], ['d1', 'd2']];
    expect(await download(chains)).toMatchObject({ status: 200, body: 'the file' });
  });

  test('is left to a client that can ask for it, where there is no other chain', async () => {
    expect(await download([['d1']])).toMatchObject({
      status: 307,
      code: 'address-not-allowed',
      location: expect.stringContaining('files.test'),
    });
    expect(overlay.originConnections()).toBe(0);
  });

  test('is left to its client, too, where no depot knows better, in whatever order they are asked', async () => {
    for (const chains of [
      [['d1'], ['d1', 'd3']],
      [['d1', 'd3'], ['d1']],
    ])
      expect(await download(chains)).toMatchObject({ status: 307, code: 'address-not-allowed' });
  });

  test('is asked for over the other chains where another name leads to it', async () => {
    const chains = [['d1'], ['d1', 'd2']];
    overlay.master.onFollowUp = ({ url }) => ({
      status: 200,
      body: { ticket: overlay.ticket(url, { chains }) },
    });
    expect(await download(chains, 'www.test')).toMatchObject({ status: 200, body: 'the file' });
  });

  test('does not hide what its origin answered over another chain', async () => {
    isGarbage = true;
    expect(await download([['d1'], ['d1', 'd2']])).toMatchObject({ status: 502, code: 'origin-bad-answer' });
  });

  test('is to be asked for later by who goes on with what he has', async () => {
    const rest = { range: 'bytes=2-', 'if-range': '"v1"' };
    expect(await download([['d1']], 'files.test', rest)).toMatchObject({ status: 503 });
  });

  test('is refused where that is an address, or a name of no internet', async () => {
    for (const host of ['10.0.0.1', 'router'])
      expect(await download([['d1'], ['d1', 'd2']], host)).toMatchObject({
        status: 403,
        code: 'address-not-allowed',
      });
  });
});
