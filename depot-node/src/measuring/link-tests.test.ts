import { once } from 'node:events';
import { Agent, createServer, request, type ServerResponse } from 'node:http';
import {
  encodeBase64url,
  formatLinkTestTarget,
  formatProof,
  type HeartbeatRequest,
  heartbeatRequestSchema,
  type LinkReport,
  linkTestText,
} from '@longhaul/shared';
import { generateKeyPair } from '@longhaul/shared/service';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openKernel } from '../kernel/open-kernel.ts';
import { ProofMaker } from '../legs/caller-proof.ts';
import { listen } from '../sockets/listener.ts';
import { fetchRaw } from '../testing/fetch-raw.ts';
import { type RunningDepot, startTestOverlay, type TestOverlay } from '../testing/overlay.ts';
import { closeServer } from '../testing/test-master.ts';

const { kernel } = openKernel();
const measuring = { bytesPerHour: 700_000 };
const BYTES = 300_000;

let overlay: TestOverlay;
let answer: (response: ServerResponse) => void;
beforeEach(async () => {
  answer = (response) => response.end();
  overlay = await startTestOverlay(['d2'], (_, response) => answer(response), undefined, {
    config: { measuring },
  });
});
afterEach(() => overlay.close());

const testsOf = ({ events }: RunningDepot) => events.filter(({ type }) => type === 'link-tested');

/** A heartbeat of a depot's now. */
async function heartbeatOf(id: string): Promise<HeartbeatRequest> {
  const { master } = overlay;
  const before = master.requests.length;
  overlay.depot(id).depot.renew({ enrolmentSecret: master.secret, trustedAuthorities: [], tls: undefined });
  const path = `/v1/depots/${id}/heartbeat`;
  const find = () => master.requests.slice(before).find((one) => one.path === path);
  await expect.poll(find).toBeDefined();
  return heartbeatRequestSchema.parse(find()?.body);
}

/** What a depot reports of its link to another one at a heartbeat now. */
async function reportOf(id: string, other: string): Promise<LinkReport | undefined> {
  return (await heartbeatOf(id)).links.find(({ to }) => to === other);
}

/** Adds a depot whose first heartbeat is answered with a test. */
function joinAndTest(id: string, from: string, bytes = BYTES): Promise<RunningDepot> {
  overlay.master.linkTest = { to: id, test: { from, bytes } };
  return overlay.addDepot(id);
}

async function ask(
  target: string,
  headers: Record<string, string> = {},
  init: { readonly agent?: Agent; readonly signal?: AbortSignal } = {},
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asking = request(`${overlay.depot('d2').url}${target}`, { ...init, headers }, (answered) => {
      answered.resume();
      resolve(answered.statusCode);
    });
    asking.once('error', reject);
    asking.end();
  });
}

/** Somebody who has joined as a depot: asks d2 for tests, and keeps or closes the connection. */
function joinAs(id: string) {
  const key = generateKeyPair();
  const place = { host: '127.0.0.1', port: 7, tls: false, addresses: ['127.0.0.1'] };
  overlay.master.depots.set(id, { id, publicKey: key.publicKey, state: 'up', ...place });
  const proofs = new ProofMaker({
    identity: { id, sign: (text) => encodeBase64url(key.sign(text)) },
    macs: { with: () => undefined },
    nowMs: () => overlay.nowSeconds() * 1000,
  });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  return async (bytes: number, isKept = false, signal?: AbortSignal) => {
    const proof = formatProof(proofs.make(linkTestText('d2', bytes), 0, 0));
    const headers = { 'longhaul-proof': proof, connection: isKept ? 'keep-alive' : 'close' };
    return ask(formatLinkTestTarget(bytes), headers, {
      ...(isKept ? { agent } : {}),
      ...(signal ? { signal } : {}),
    });
  };
}

test.skipIf(!kernel)(
  'a depot that is told to test a link fetches from the other one, which tells at once what went over it, so that the next test may follow',
  async () => {
    const d1 = await joinAndTest('d1', 'd2');
    await expect.poll(() => testsOf(d1)).toMatchObject([{ depot: 'd2', role: 'receiver', bytes: BYTES }]);
    await expect.poll(() => testsOf(overlay.depot('d2'))).toMatchObject([{ depot: 'd1', role: 'sender' }]);
    const told = () =>
      overlay.master.requests
        .filter(({ path }) => path === '/v1/depots/d2/heartbeat')
        .flatMap(({ body }) => heartbeatRequestSchema.parse(body).links)
        .find(({ to, sentBytes = 0 }) => to === 'd1' && sentBytes >= BYTES);
    await expect.poll(told).toBeDefined();
    expect(told()?.rttMs).toBeLessThan(1000);
  },
);

test('a depot measures the round trips to the others without being told', async () => {
  await overlay.addDepot('d1');
  await expect.poll(async () => (await reportOf('d1', 'd2'))?.rttMs).toBeLessThan(1000);
  expect(testsOf(overlay.depot('d2'))).toEqual([]);
});

test('an hour has no more bytes than are configured, in both directions together', async () => {
  const first = await joinAndTest('d1', 'd2');
  await expect.poll(() => testsOf(first)).toHaveLength(1);
  // A depot asks for a new directory seldom.
  overlay.advanceSeconds(60);
  const second = await joinAndTest('d3', 'd2');
  await expect
    .poll(() => overlay.depot('d2').events.filter(({ type }) => type === 'refusal'))
    .toMatchObject([{ code: 'depot-full' }]);
  expect(testsOf(second)).toEqual([]);
});

test.each([
  ['a depot that refuses its test', 0, (response: ServerResponse) => void response.writeHead(503).end('no')],
  [
    'a depot that breaks off its test',
    1000,
    (response: ServerResponse) => {
      response.writeHead(200, { 'Content-Length': BYTES });
      response.write(Buffer.alloc(1000), () => response.destroy());
    },
  ],
  ['a depot that is out of reach', 0, undefined],
])('%s costs the other one no bytes but those that came, which are counted', async (_, cameBytes, serve) => {
  const { master } = overlay;
  const other = createServer((request_, response) => {
    if (request_.url === formatLinkTestTarget(BYTES)) serve?.(response);
    else response.end();
  });
  const { port } = await listen(other, '127.0.0.1', 0);
  const close = () => closeServer(other);
  if (serve) onTestFinished(close);
  else await close();
  const { publicKey } = generateKeyPair();
  const place = { host: '127.0.0.1', port, tls: false, addresses: ['127.0.0.1'] };
  master.depots.set('d9', { id: 'd9', publicKey, state: 'up', ...place });
  const asked = serve && once(other, 'request');
  const d3 = await joinAndTest('d3', 'd9');
  await asked;
  await overlay.addDepot('d1');
  const testAgain = async () => {
    master.linkTest = { to: 'd3', test: { from: 'd1', bytes: BYTES } };
    await heartbeatOf('d3');
    return testsOf(d3);
  };
  const came = cameBytes > 0 ? [{ depot: 'd9', role: 'receiver', bytes: cameBytes }] : [];
  await expect.poll(testAgain).toMatchObject([...came, { depot: 'd1', role: 'receiver', bytes: BYTES }]);
});

test('nobody but a depot of the overlay gets bytes, and none gets more than a test has', async () => {
  expect(await ask(formatLinkTestTarget(BYTES))).toBe(403);
  const forged = `d2 ${overlay.nowSeconds() * 1000} ${'A'.repeat(86)}`;
  expect(await ask(formatLinkTestTarget(BYTES), { 'longhaul-proof': forged })).toBe(403);
  expect(await ask(formatLinkTestTarget(4_000_001))).toBe(400);
  expect(testsOf(overlay.depot('d2'))).toEqual([]);
});

test('a depot without bytes for it tests nothing', async () => {
  overlay.master.linkTest = { to: 'd1', test: { from: 'd2', bytes: BYTES } };
  const d1 = await overlay.addDepot('d1', { measuring: { bytesPerHour: 0 } });
  expect(await reportOf('d1', 'd2')).toBeUndefined();
  expect(testsOf(d1)).toEqual([]);
});

test('a depot that keeps the connection of its test keeps no other one from being tested', async () => {
  const askAsD9 = joinAs('d9');
  const { events } = overlay.depot('d2');
  expect(await askAsD9(1, true)).toBe(200);
  await expect
    .poll(() => events.filter(({ type }) => type === 'link-tested'))
    .toMatchObject([{ depot: 'd9', role: 'sender', bytes: 1 }]);
  overlay.advanceSeconds(60);
  const d1 = await joinAndTest('d1', 'd2');
  await expect.poll(() => testsOf(d1)).toHaveLength(1);
});

test('a depot that leaves while the master is asked who it is keeps no other one from being tested', async () => {
  const { master } = overlay;
  const d1 = await overlay.addDepot('d1');
  const leave = new AbortController();
  const asked = Promise.withResolvers<void>();
  const hasLeft = Promise.withResolvers<void>();
  master.beforeAnswer = () => {
    asked.resolve();
    return hasLeft.promise;
  };
  const asking = joinAs('d9')(BYTES, false, leave.signal);
  await asked.promise;
  leave.abort();
  await expect(asking).rejects.toThrow('aborted');
  const connections = async () => {
    const { body } = await fetchRaw(`${overlay.depot('d2').url}/metrics`, {
      headers: { connection: 'close' },
    });
    return /^longhaul_depot_connections (\d+)$/m.exec(body.toString())?.[1];
  };
  await expect.poll(connections).toBe('1');
  hasLeft.resolve();
  const testNow = async () => {
    master.linkTest = { to: 'd1', test: { from: 'd2', bytes: BYTES } };
    await heartbeatOf('d1');
    return testsOf(d1);
  };
  await expect.poll(testNow).toMatchObject([{ depot: 'd2', role: 'receiver', bytes: BYTES }]);
});

test('a depot that asks again and again gets a share of the tests, and leaves others theirs', async () => {
  const [askAsD8, askAsD9] = [joinAs('d8'), joinAs('d9')];
  let tests = 0;
  while ((await askAsD9(1)) === 200) {
    tests += 1;
    await expect.poll(() => testsOf(overlay.depot('d2'))).toHaveLength(tests);
  }
  expect(tests).toBe(1);
  expect(await askAsD8(BYTES)).toBe(200);
});

test('a client that reads nothing of a download keeps no link from being tested', async () => {
  answer = (response) => void response.writeHead(200, { 'Content-Length': 1000 }).write('x');
  const download = await fetch(overlay.relayUrl(`${overlay.originUrl}/file`));
  onTestFinished(() => download.body?.cancel().catch(() => undefined));
  expect(await heartbeatOf('d2')).toMatchObject({ activeTransfers: 1, isMoving: true });
  overlay.advanceSeconds(60);
  expect(await heartbeatOf('d2')).toMatchObject({ activeTransfers: 1, isMoving: false });
  const d1 = await joinAndTest('d1', 'd2');
  await expect.poll(() => testsOf(d1)).toHaveLength(1);
});
