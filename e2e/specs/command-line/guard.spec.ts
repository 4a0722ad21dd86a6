import { type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { connectionsForClients } from '../../fixtures/download-checks.ts';
import { FILE_BYTES, fileBody } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';
import type { World } from '../../fixtures/world.ts';
import { sha256Hex } from '../../overlay/sample-bytes.ts';

test.use({ worldSpec: { unnamed: true } });

/**
 * The entry depot's address for a file, with a ticket fresh from the master. Who is led there himself has the
 * depot connect before.
 */
async function relayUrl(world: World, name: string): Promise<string> {
  const answer = await fetch(`${world.overlay.master.url}/v1/plans`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: `${world.originUrl}/files/${name}` }),
  });
  return ((await answer.json()) as { readonly location: string }).location;
}

async function refusal(url: string): Promise<string | null> {
  const answer = await fetch(url, { redirect: 'manual' });
  await answer.body?.cancel();
  return answer.headers.get('longhaul-error');
}

test.describe('a ticket of the master opens nothing but its own download', () => {
  for (const [what, change, code] of [
    [
      'forged',
      (url: string) => url.replace(/\.[A-Za-z0-9_-]{10}/, '.AAAAAAAAAA'),
      /^ticket-(signature-wrong|malformed)$/,
    ],
    ['used for another URL', (url: string) => url.replace('/files/', '/other/'), /^ticket-wrong-url$/],
    [
      'used for another origin',
      (url: string) => url.replace(/port=[0-9]+/, 'port=9'),
      /^ticket-wrong-authority$/,
    ],
  ] as const) {
    test(`${what}: refused, and no connection made`, async ({ world }) => {
      const url = change(await relayUrl(world, 'guarded.bin'));
      const before = await connectionsForClients(world);
      expect(await refusal(url)).toMatch(code);
      expect(await connectionsForClients(world)).toBe(before);
    });
  }

  test('used at a depot that only relays in its chain: refused, and no connection made', async ({
    world,
  }) => {
    const url = new URL(await relayUrl(world, 'guarded.bin'));
    url.port = new URL(world.overlay.depot('d3').url).port;
    const before = await connectionsForClients(world);
    expect(await refusal(url.href)).toBe('ticket-wrong-depot');
    expect(await connectionsForClients(world)).toBe(before);
  });
});

test('a ticket past its life: refused, and no connection made', async ({ world }) => {
  const url = `${world.originUrl}/files/late.bin`;
  const before = await connectionsForClients(world);
  const expired = await world.relayUrlIssuedAt('d1', url, Math.floor(Date.now() / 1000) - 2 * 86_400);
  expect(await refusal(expired)).toBe('ticket-expired');
  expect(await connectionsForClients(world)).toBe(before);
  const alive = await world.relayUrlIssuedAt('d1', url, Math.floor(Date.now() / 1000));
  expect(await refusal(alive)).toBeNull();
});

test("a client's CONNECT with a ticket for a download: refused, and no connection made", async ({
  world,
}) => {
  const url = new URL(await relayUrl(world, 'guarded.bin'));
  const ticket = url.search.slice(1).split('&', 1)[0] ?? '';
  const before = await connectionsForClients(world);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = request({
      host: url.hostname,
      port: url.port,
      method: 'CONNECT',
      path: world.originUrl.slice('http://'.length),
      headers: { 'Proxy-Authorization': `Longhaul ${ticket}` },
    });
    asked.once('connect', (incoming: IncomingMessage, socket: Duplex) => {
      socket.destroy();
      resolve(incoming);
    });
    asked.once('error', reject).end();
  });
  expect([answer.statusCode, answer.headers['longhaul-error']]).toEqual([403, 'ticket-wrong-kind']);
  expect(await connectionsForClients(world)).toBe(before);
});

test('an origin that redirects to a private address is refused with the code', async ({ world }) => {
  const target = encodeURIComponent('http://192.168.7.7/secret');
  const answer = await fetch(world.masterLink(`${world.originUrl}/moved?${target}`));
  expect(answer.status).toBe(403);
  expect(answer.headers.get('longhaul-error')).toMatch(/^(target-not-public|address-not-allowed)$/);
});

test('who begins with a file of an origin that asks for a login, or names no version of it, is led to it; others are refused with the code', async ({
  world,
}) => {
  const link = world.masterLink(`${world.originUrl}/members/x.bin`);
  const part = { Range: 'bytes=7-' };
  for (const headers of [new Headers(), new Headers(part)]) {
    const led = await fetch(link, { headers });
    expect([led.status, new URL(led.url).origin]).toEqual([401, world.originUrl]);
  }
  const resumed = await fetch(link, { headers: { ...part, 'If-Range': '"v1"' } });
  expect([resumed.status, resumed.headers.get('longhaul-error')]).toEqual([503, 'origin-needs-login']);
});

test('a depot killed in the middle of a body does not reach the client', async ({ world }) => {
  const answer = await fetch(world.masterLink(`${world.originUrl}/files/killed.bin`));
  expect(answer.headers.get('content-length')).toBe(String(FILE_BYTES));
  const reader = answer.body?.getReader();
  const parts = [(await reader?.read())?.value ?? new Uint8Array()];
  await world.overlay.depot('d3').kill();
  for (;;) {
    const part = await reader?.read();
    if (!part || part.done) break;
    parts.push(part.value);
  }
  expect(sha256Hex(Buffer.concat(parts))).toBe(sha256Hex(fileBody('killed.bin')));
  await world.overlay.restartDepot('d3');
});

test('an entry depot killed in the middle of a body breaks the transfer: the short file never looks whole', async ({
  world,
}) => {
  const answer = await fetch(world.masterLink(`${world.originUrl}/files/killed-entry.bin`));
  const reader = answer.body?.getReader();
  await reader?.read();
  await world.overlay.depot('d1').kill();
  const rest = async () => {
    for (;;) {
      const part = await reader?.read();
      if (!part || part.done) return 'ended as if it were whole';
    }
  };
  await expect(rest()).rejects.toThrow();
  await world.overlay.restartDepot('d1');
});
