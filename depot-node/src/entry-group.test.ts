import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listen } from './sockets/listener.ts';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { closeServer } from './testing/test-master.ts';

const FILE = randomBytes(300_000);
const MODIFIED = 'Wed, 01 Oct 2025 10:00:00 GMT';
const VALIDATORS = ['etag', 'last-modified', 'accept-ranges', 'content-disposition'] as const;
const group = (id: string) => ({ entryGroup: { id, host: 'south.example' } });

let overlay: TestOverlay;
/** Where the origin redirects to, if anywhere. */
let movedTo: string | undefined;

beforeEach(async () => {
  movedTo = undefined;
  overlay = await startTestOverlay([], (request, response) => {
    if (movedTo !== undefined) {
      response.writeHead(302, { Location: movedTo }).end();
      return;
    }
    const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
    const start = Number(from ?? 0);
    response.writeHead(from === undefined ? 200 : 206, {
      ETag: '"v1"',
      'Last-Modified': MODIFIED,
      'Accept-Ranges': 'bytes',
      'Content-Length': FILE.length - start,
      ...(from === undefined ? {} : { 'Content-Range': `bytes ${start}-${FILE.length - 1}/${FILE.length}` }),
    });
    response.end(FILE.subarray(start));
  });
  await overlay.addDepot('exit');
  await overlay.addDepot('d1', group('south'));
  await overlay.addDepot('d2', group('south'));
  await overlay.addDepot('other', group('north'));
});
afterEach(() => overlay.close());

/** The same path with the same ticket at each of these depots, as they are behind one name. */
function addresses(claims: object, ...ids: string[]): string[] {
  const url = overlay.relayUrl(
    `${overlay.originUrl}/file.iso`,
    { chains: [['d1', 'exit']], ...claims },
    'd1',
  );
  return ids.map((id) => url.replace(overlay.depot('d1').url, overlay.depot(id).url));
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a ticket of an entry group', () => {
  test('is served by each of its depots, with one path and the same validators, also of a part', async () => {
    const answers = await Promise.all(addresses({ group: 'south' }, 'd1', 'd2').map((url) => fetchRaw(url)));
    for (const { status, body } of answers) {
      expect([status, sha256(body)]).toEqual([200, sha256(FILE)]);
    }
    const [one, other] = answers.map(({ headers }) => VALIDATORS.map((name) => headers[name]));
    expect(one).toEqual(other);
    expect(one?.slice(0, 2)).toEqual(['"v1"', MODIFIED]);
    const [, second = ''] = addresses({ group: 'south' }, 'd1', 'd2');
    const part = await fetchRaw(second, { headers: { range: 'bytes=1000-', 'if-range': '"v1"' } });
    expect([part.status, sha256(part.body)]).toEqual([206, sha256(FILE.subarray(1000))]);
  });

  test('goes on at another of its depots after the time to start is over, and begins at none', async () => {
    const past = overlay.nowSeconds() - 3600;
    const [url = ''] = addresses({ group: 'south', issuedAt: past, lastStart: past + 600 }, 'd2');
    expect((await fetchRaw(url, { headers: { range: 'bytes=1000-' } })).status).toBe(206);
    const [anew = ''] = addresses({ group: 'south', issuedAt: past, lastStart: past + 600 }, 'd2');
    expect((await fetchRaw(anew)).status).not.toBe(200);
  });

  test('is refused by depots of other groups, and by all where it is of none', async () => {
    const [other = ''] = addresses({ group: 'south' }, 'other');
    const [none = ''] = addresses({}, 'd2');
    for (const url of [other, none]) {
      expect((await fetchRaw(url)).headers['longhaul-error']).toBe('ticket-wrong-depot');
    }
  });

  test('comes over a chain that the master plans from there, and without one from the depot alone', async () => {
    const asked: unknown[] = [];
    overlay.master.onFollowUp = (body) => {
      asked.push(body.avoid);
      const ticket = overlay.ticket(`${overlay.originUrl}/file.iso`, {
        chains: [['d2', 'exit']],
        group: 'south',
      });
      return { status: 200, body: { ticket } };
    };
    const tunnels = () => overlay.depot('exit').events.filter(({ type }) => type === 'tunnel').length;
    const [url = ''] = addresses({ group: 'south' }, 'd2');
    expect(sha256((await fetchRaw(url)).body)).toBe(sha256(FILE));
    expect(asked).toEqual([[]]);
    await expect.poll(tunnels).toBe(1);
    overlay.master.onFollowUp = () => ({ status: 503, body: {}, code: 'no-other-chain' });
    const [again = ''] = addresses({ group: 'south' }, 'd2');
    expect(sha256((await fetchRaw(again)).body)).toBe(sha256(FILE));
    expect(tunnels()).toBe(1);
  });
});

test('a depot of the group that no chain begins at brings the whole file from another host that the origin redirects to', async () => {
  const mirror = createServer((_, response) => response.end(FILE));
  const { port } = await listen(mirror, '127.0.0.1', 0);
  movedTo = `http://127.0.0.1:${port}/file.iso`;
  const ports = [port, Number(new URL(overlay.originUrl).port)];
  await overlay.addDepot('d3', {
    ...group('south'),
    addresses: { allow: [{ network: '127.0.0.0/8', ports }] },
  });
  // As a master does that knows no chain to either host.
  overlay.master.onFollowUp = ({ url, avoid }) => {
    if (avoid) return { status: 503, body: {}, code: 'no-other-chain' };
    const promises = [{ rateBps: 0, worstRttMs: 0, worstLossRate: 0 }];
    return { status: 200, body: { ticket: overlay.ticket(url, { chains: [['d3']], promises }) } };
  };
  const [url = ''] = addresses({ group: 'south' }, 'd3');
  const { status, body } = await fetchRaw(url);
  expect([status, sha256(body)]).toEqual([200, sha256(FILE)]);
  expect(overlay.originRequests).toHaveLength(1);
  await closeServer(mirror);
});

test('a depot tells its master which entry group it serves', async () => {
  const said = overlay.master.requests.filter(({ path }) => path.endsWith('/d1/heartbeat'));
  expect(said.at(-1)?.body).toMatchObject({ entryGroup: 'south' });
});
