import { createPublicKey, verify } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import {
  canonicalOriginUrl,
  decodeTicket,
  isWayTarget,
  parseRelayTarget,
  parseWayTarget,
  type TicketClaims,
  verifyTicket,
} from '@longhaul/shared';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closeServer, listenOnLoopback } from '../testing/listening-depot.ts';
import { type RawAnswer, rawGet, rawRequest } from '../testing/raw-request.ts';
import { startMaster, type TestMaster } from '../testing/start-master.ts';
import { registerDepots, type TestDepot } from '../testing/test-depot.ts';
import { urlHashOf } from '../tickets/ticket-issuer.ts';

let master: TestMaster;
let depots: TestDepot[];

beforeEach(async () => {
  master = await startMaster();
  depots = await registerDepots(master, 'd1', 'd2', 'd3');
});
afterEach(() => master.master.close());

function locationOf(answer: RawAnswer): string {
  expect(answer.status, answer.body).toBe(307);
  return answer.headers.location ?? '';
}

/** The relay request that a client sends to the entry depot when it follows the redirect. */
function relayOf(answer: RawAnswer) {
  const location = locationOf(answer);
  const relay = parseRelayTarget(location.slice(location.indexOf('/', 'http://'.length)));
  if (!relay.ok) throw relay.error;
  if (relay.value.from !== 'origin') throw new Error('not an origin relay');
  return relay.value;
}

async function claimsByJwks(ticket: string): Promise<TicketClaims> {
  const response = await fetch(`${master.url}/.well-known/jwks.json`);
  const jwks = (await response.json()) as { keys: { kid: string; kty: string; crv: string; x: string }[] };
  const decoded = decodeTicket(ticket);
  if (!decoded.ok) throw decoded.error;
  const jwk = jwks.keys.find((key) => key.kid === decoded.value.keyId);
  const key = jwk && createPublicKey({ key: jwk, format: 'jwk' });
  const claims = verifyTicket(
    decoded.value,
    key && ((bytes, signature) => verify(null, bytes, key, signature)),
  );
  if (!claims.ok) throw claims.error;
  return claims.value;
}

describe('a download link', () => {
  test.each([
    ['/pub/file.iso', '/pub/file.iso'],
    ['/a?b', '/a?b'],
    ['/a?', '/a?'],
    ['/a?b=c&d=e&&=', '/a?b=c&d=e&&='],
    ['/a%2Fb%2f%00c', '/a%2Fb%2f%00c'],
    ['//a///b//', '//a///b//'],
    ['/a/../b/./c', '/a/../b/./c'],
    ['/a?u=https://x.example//y?z', '/a?u=https://x.example//y?z'],
    ['/%', '/%'],
    ['/a+b%20c;d=e', '/a+b%20c;d=e'],
    ['', '/'],
  ])('reaches the entry depot byte by byte: %s', async (given, expected) => {
    const answer = await rawGet(master.port, `/get/https/origin.example${given}`);
    const { url, ticket } = relayOf(answer);
    expect(canonicalOriginUrl(url)).toBe(`https://origin.example:443${expected}`);
    expect((await claimsByJwks(ticket)).urlHash).toBe(urlHashOf(url));
  });

  test('means the same where a program has encoded its options, and stays as it is behind them', async () => {
    const rest = 'https/origin.example/~a%7Eb?c=%7E';
    const plain = await rawGet(master.port, `/get/~size=700000000,avoid=d1/${rest}`);
    expect(new URL(locationOf(plain)).port).toBe('7003');
    for (const options of ['%7Esize=700000000,avoid=d1', '%7esize%3D700000000%2Cavoid%3Dd1'])
      expect(locationOf(await rawGet(master.port, `/get/${options}/${rest}`))).toBe(locationOf(plain));
    const wrong = await rawGet(master.port, `/get/%7Esize%3/${rest}`);
    expect(wrong).toMatchObject({ status: 400, headers: { 'longhaul-error': 'bad-options' } });
  });

  test('with a fragment in the raw target is refused', async () => {
    const answer = await rawGet(master.port, '/get/https/origin.example/a#b');
    expect(answer.status).toBe(400);
    expect(answer.headers['longhaul-error']).toBe('bad-url');
  });

  test('pasted into the form means the same', async () => {
    const pasted = encodeURIComponent('  https://ORIGIN.example/x/../a b/{c}"d\\./%2e/e?f=\'g/../h#frag ');
    const answer = await rawGet(master.port, `/get?url=${pasted}`);
    expect(canonicalOriginUrl(relayOf(answer).url)).toBe(
      'https://origin.example:443/a%20b/%7Bc%7D%22d/e?f=%27g/../h',
    );
    // A browser that follows the redirect changes nothing of it.
    expect(new URL(locationOf(answer)).href).toBe(locationOf(answer));
  });

  test('is answered 307, is never stored, and names job and alternatives', async () => {
    const answer = await rawGet(master.port, '/get/https/origin.example/f.iso');
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store' });
    const { ticket } = relayOf(answer);
    expect(locationOf(answer)).toMatch(/^http:\/\/127\.0\.0\.1:7001\/f\.iso\?/);
    const claims = await claimsByJwks(ticket);
    expect(claims.jobId).toBe(answer.headers['longhaul-job']);
    expect(claims.chains).toEqual([
      ['d1', 'd2'],
      ['d3', 'd2'],
    ]);
    expect(answer.headers.link).toBe(
      `<http://127.0.0.1:7003/f.iso?${ticket}&server=origin.example&port=443&scheme=https>; rel=duplicate; pri=1, ` +
        '<https://origin.example/f.iso>; rel=duplicate; pri=2',
    );
  });

  test('leaves to the page what its server is shown of it: a redirect would speak for those behind it, too', async () => {
    for (const target of ['/get/https/origin.example/f', '/get/~size=4000/https/origin.example/f'])
      for (const time of ['first', 'again']) {
        const { status, headers } = await rawGet(master.port, target);
        expect({ status, policy: headers['referrer-policy'] }, time).toEqual({ status: 307 });
      }
    const refused = await rawGet(master.port, '/get/https/elsewhere.example/f');
    expect(refused).toMatchObject({ status: 403, headers: { 'referrer-policy': 'no-referrer' } });
  });

  test('leads scripts of other sites, too, which read nothing of redirects; of refusals they read nothing either', async () => {
    const open = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };
    for (const target of ['/get/https/origin.example/f', '/get/~size=4000/https/origin.example/f'])
      expect(await rawGet(master.port, target)).toMatchObject({ status: 307, headers: open });
    const preflight = await rawRequest(master.port, 'OPTIONS /get/https/origin.example/f HTTP/1.1', [
      'Origin: https://page.example',
      'Access-Control-Request-Method: GET',
      'Access-Control-Request-Headers: if-range',
    ]);
    const refused = await rawGet(master.port, '/get/https/elsewhere.example/f');
    expect([preflight.status, refused.status]).toEqual([405, 403]);
    for (const { headers } of [preflight, refused, await rawGet(master.port, '/healthz/live')])
      for (const name of Object.keys(open)) expect(headers[name]).toBeUndefined();
  });

  test('is answered to HEAD as to GET, and to nothing else', async () => {
    const head = await rawRequest(master.port, 'HEAD /get/https/origin.example/f HTTP/1.1');
    expect(head.status).toBe(307);
    const post = await rawRequest(master.port, 'POST /get/https/origin.example/f HTTP/1.1');
    expect(post.status).toBe(405);
    expect(post.headers).toMatchObject({ 'longhaul-error': 'method-not-allowed', allow: 'GET, HEAD' });
  });

  test('gives the same ticket for a minute, and a new one after it', async () => {
    const ticket = async () => relayOf(await rawGet(master.port, '/get/https/origin.example/f')).ticket;
    const first = await ticket();
    master.clock.advance(10);
    await registerDepots(master, 'd4');
    expect(await ticket()).toBe(first);
    const other = relayOf(await rawGet(master.port, '/get/~size=500000000/https/origin.example/f')).ticket;
    expect(other).not.toBe(first);
    master.clock.advance(50);
    for (const depot of depots) await depot.heartbeat(master);
    const later = await ticket();
    expect(later).not.toBe(first);
    expect(await ticket()).toBe(later);
  });

  test.each([
    ['whose size nobody knows', '', [4, 4], 16 * 2 ** 30],
    ['that is large', '~size=1500000000/', [4, 4], 1_500_000_000],
    ['that is enormous', '~size=20000000000/', [3, 3], 20_000_000_000],
    ['of usual size', '~size=1000000000/', [64, 3], 1_000_000_000],
  ])(
    'to a file %s gives machines behind one address tickets whose bytes suffice for all of them',
    async (_, options, most, sizeBytes) => {
      const tickets: string[] = [];
      for (let machine = 0; machine < most.reduce((sum, each) => sum + each); machine += 1)
        tickets.push(relayOf(await rawGet(master.port, `/get/${options}https/origin.example/f`)).ticket);
      const machines = [...Map.groupBy(tickets, (ticket) => ticket)];
      expect(machines.map(([, each]) => each.length)).toEqual(most);
      for (const [ticket, each] of machines)
        expect((await claimsByJwks(ticket)).budgetBytes).toBeGreaterThanOrEqual(each.length * sizeBytes);
    },
  );

  test('gives parts of a file, and its head, the ticket of the whole, however many connections ask for them', async () => {
    const target = '/get/~size=1500000000/https/origin.example/f';
    const ticket = async (method = 'GET', headers: readonly string[] = []) =>
      relayOf(await rawRequest(master.port, `${method} ${target} HTTP/1.1`, headers)).ticket;
    const first = await ticket('HEAD');
    for (let whole = 0; whole < 4; whole += 1) expect(await ticket()).toBe(first);
    for (let part = 0; part < 16; part += 1)
      expect(await ticket('GET', [`Range: bytes=${part}000-${part}999`])).toBe(first);
    expect(await ticket('HEAD')).toBe(first);
    expect(await ticket()).not.toBe(first);
  });

  test('counts who asks for all bytes from the first one as one that asks for the whole', async () => {
    const target = '/get/~size=1500000000/https/origin.example/f';
    const tickets: string[] = [];
    for (let player = 0; player < 5; player += 1)
      tickets.push(relayOf(await rawGet(master.port, target, ['Range: bytes=0-'])).ticket);
    expect(new Set(tickets.slice(0, 4)).size).toBe(1);
    expect(tickets[4]).not.toBe(tickets[0]);
  });

  test('leads elsewhere as soon as a depot of its plan is lost', async () => {
    const link = '/get/https/origin.example/f';
    expect(relayOf(await rawGet(master.port, link)).ticket).toBeTruthy();
    master.clock.advance(20);
    expect(locationOf(await rawGet(master.port, link))).toBe('https://origin.example/f');
  });

  test.each([
    ['at another port', { port: 7999 }, 'http://127.0.0.1:7999'],
    ['by another name', { host: '127.0.0.9' }, 'http://127.0.0.9:7001'],
    ['with TLS', { tls: true }, 'https://127.0.0.1:7001'],
  ])('leads to where its entry depot is, from when on it has proved to be %s', async (_, moved, base) => {
    const link = '/get/https/origin.example/f';
    for (let time = 0; time < 2; time += 1)
      expect(new URL(locationOf(await rawGet(master.port, link))).origin).toBe('http://127.0.0.1:7001');
    expect((await depots[0]?.nextProcess().register(master, moved))?.status).toBe(200);
    expect(new URL(locationOf(await rawGet(master.port, link))).origin).toBe(base);
  });

  test('names alternatives where their entry depots are, from when on they have proved to be elsewhere', async () => {
    const link = '/get/https/origin.example/f';
    expect((await rawGet(master.port, link)).headers.link).toContain('//127.0.0.1:7003/');
    await depots[2]?.nextProcess().register(master, { port: 7999 });
    expect((await rawGet(master.port, link)).headers.link).toContain('//127.0.0.1:7999/');
  });

  test('of a mouse leads directly to the origin, and browsers past the add-on', async () => {
    const answer = await rawGet(master.port, '/get/~size=4000/https/origin.example:8443/f?a');
    expect(answer.headers['longhaul-error']).toBe('port-not-allowed');
    const ask = (program: string) =>
      rawGet(master.port, '/get/~size=4000/http/origin.example/f?a', [`User-Agent: ${program}`]);
    const [firefox, chromium] = [
      'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    ];
    for (const browser of [firefox, chromium]) {
      const direct = await ask(browser);
      expect(locationOf(direct)).toBe('http://origin.example/f?a#lh-direct');
      expect(direct.headers['cache-control']).toBe('no-store');
      // The same plan, whose head is kept.
      expect(locationOf(await ask('curl/8.14.1'))).toBe('http://origin.example/f?a');
    }
  });

  test('of a mouse leaves what a page loads its own fragment, and marks what may become a download', async () => {
    const firefox = 'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
    const ask = (use: string) =>
      rawGet(master.port, '/get/~size=4000/http/origin.example/f?a', [firefox, `Sec-Fetch-Dest: ${use}`]);
    for (const use of ['document', 'iframe', 'frame', 'empty'])
      expect(locationOf(await ask(use)), use).toBe('http://origin.example/f?a#lh-direct');
    for (const use of ['video', 'audio', 'image', 'embed', 'object', 'track'])
      expect(locationOf(await ask(use)), use).toBe('http://origin.example/f?a');
  });

  test('is answered to programs that know no 307 as they know it', async () => {
    for (const agent of ['Wget', 'fetch libfetch/2.0']) {
      const answers = await Promise.all(
        ['/get/~size=4000/http/origin.example/f?a', '/get/https/origin.example/f'].map((link) =>
          rawGet(master.port, link, [`User-Agent: ${agent}`]),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([302, 302]);
      expect(answers[0]?.headers.location).toBe('http://origin.example/f?a');
      expect(answers[1]?.headers.location).toMatch(/^http:\/\/127\.0\.0\.1:7001\/f\?/);
    }
  });

  test.each([
    'Wget/1.21.3',
    'curl/8.14.1',
    'Axel/2.17.11',
    'uclient-fetch',
    'Lavf/58.76.100',
    'Mozilla/4.5 (compatible; HTTrack 3.0x; Windows 98)',
    '',
  ])(
    'of a mouse tells programs of no add-on: they may ask the origin for the fragment, too (%s)',
    async (program) => {
      const link = '/get/~size=4000/http/origin.example/f?a';
      const answer = await rawGet(master.port, link, program === '' ? [] : [`User-Agent: ${program}`]);
      expect(answer).toMatchObject({ status: 307, headers: { location: 'http://origin.example/f?a' } });
    },
  );

  test('avoids the depots it is asked to avoid', async () => {
    const answer = await rawGet(master.port, '/get/~avoid=d1/https/origin.example/f');
    expect((await claimsByJwks(relayOf(answer).ticket)).chains[0]).toEqual(['d3', 'd2']);
  });

  test('chooses no depots unless the operator lets it', async () => {
    const answer = await rawGet(master.port, '/get/~via=d2+d3/https/origin.example/f');
    expect(answer.status).toBe(403);
    expect(answer.headers['longhaul-error']).toBe('via-not-allowed');
  });

  test('led stepwise begins at the exit depot, by a ticket and a plan of its own', async () => {
    const answer = await rawGet(master.port, '/get/~signalling=stepwise/http/origin.example/f.iso?q=1');
    const { ticket, url } = relayOf(answer);
    expect(locationOf(answer)).toBe(
      `http://127.0.0.1:7002/f.iso?${ticket}&server=origin.example&port=80&scheme=http&query=q%3D1`,
    );
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(canonicalOriginUrl(url)).toBe('http://origin.example:80/f.iso?q=1');
    expect(await claimsByJwks(ticket)).toMatchObject({
      kind: 'stepwise',
      chains: [
        ['d1', 'd2'],
        ['d3', 'd2'],
      ],
    });
    const cascade = await rawGet(master.port, '/get/http/origin.example/f.iso?q=1');
    expect(relayOf(cascade).ticket).not.toBe(ticket);
    expect(locationOf(cascade)).toMatch(/^http:\/\/127\.0\.0\.1:7001\//);
    const named = await rawGet(master.port, '/get/~signalling=cascade/http/origin.example/f.iso?q=1');
    expect(locationOf(named)).toBe(locationOf(cascade));
  });

  test('led stepwise to an https origin is led by cascade, and to a mouse goes direct', async () => {
    const secure = await rawGet(master.port, '/get/~signalling=stepwise/https/origin.example/f.iso');
    expect(locationOf(secure)).toMatch(/^http:\/\/127\.0\.0\.1:7001\//);
    expect((await claimsByJwks(relayOf(secure).ticket)).kind).toBe('get');
    const mouse = await rawGet(master.port, '/get/~size=4000,signalling=stepwise/http/origin.example/f');
    expect(locationOf(mouse)).toBe('http://origin.example/f');
  });

  test('carries budgets and times into the ticket', async () => {
    const { ticket } = relayOf(await rawGet(master.port, '/get/~size=20000000000/https/origin.example/f'));
    const issuedAt = Math.floor(master.clock.nowMs / 1000);
    expect(await claimsByJwks(ticket)).toMatchObject({
      kind: 'get',
      budgetBytes: 80_000_000_000,
      budgetConnections: 4096,
      issuedAt,
      lastStart: issuedAt + 600,
      endOfLife: issuedAt + 604_800,
    });
    const unknown = relayOf(await rawGet(master.port, '/get/https/origin.example/g'));
    expect((await claimsByJwks(unknown.ticket)).budgetBytes).toBe(64 * 2 ** 30);
  });

  test('has no smaller budget for a size that it says itself than for none: it may be old', async () => {
    const { ticket } = relayOf(await rawGet(master.port, '/get/~size=1000000000/https/origin.example/f'));
    expect((await claimsByJwks(ticket)).budgetBytes).toBe(64 * 2 ** 30);
  });

  test('has a budget by the size that depots have seen, where it says itself a smaller one', async () => {
    const old = '/get/~size=1000000000/https/origin.example/latest.tar';
    const { url } = relayOf(await rawGet(master.port, old));
    await depots[0]?.heartbeat(master, { sizes: [{ urlHash: urlHashOf(url), sizeBytes: 30_000_000_000 }] });
    master.clock.advance(61);
    for (const depot of depots) await depot.heartbeat(master);
    const { ticket } = relayOf(await rawGet(master.port, old));
    expect((await claimsByJwks(ticket)).budgetBytes).toBe(120_000_000_000);
  });

  test('has no smaller budget for a size that is only remembered than for none: the file may have grown', async () => {
    const { url } = relayOf(await rawGet(master.port, '/get/https/origin.example/latest.tar'));
    await depots[0]?.heartbeat(master, { sizes: [{ urlHash: urlHashOf(url), sizeBytes: 200_000_000 }] });
    master.clock.advance(61);
    for (const depot of depots) await depot.heartbeat(master);
    const answer = await rawGet(master.port, '/get/https/origin.example/latest.tar');
    expect((await claimsByJwks(relayOf(answer).ticket)).budgetBytes).toBe(64 * 2 ** 30);
  });
});

describe('the first depot of a chain', () => {
  let entry: Server;
  let told: string[];
  let isTold: () => void;
  beforeEach(async () => {
    told = [];
    isTold = () => {};
    entry = createServer((request, response) => {
      told.push(request.url ?? '');
      response.writeHead(204).end();
      isTold();
    });
    await depots[0]?.register(master, { port: await listenOnLoopback(entry) });
  });
  afterEach(() => closeServer(entry));

  /** What it is told until `count` notices have come. */
  const hears = (count: number) =>
    new Promise<string[]>((resolve) => {
      isTold = () => told.length >= count && resolve(told.toSorted());
      isTold();
    });

  test('is told of a redirect: which depot comes next, and who comes with which ticket; of a mere plan it is not', async () => {
    const body = JSON.stringify({ url: 'https://origin.example/planned' });
    const headers = { 'Content-Type': 'application/json' };
    const planned = await fetch(`${master.url}/v1/plans`, { method: 'POST', headers, body });
    expect(await planned.json()).toMatchObject({ chain: ['d1', 'd2'] });
    const { ticket } = relayOf(await rawGet(master.port, '/get/https/origin.example/fetched'));
    const [notice = '', way = ''] = await hears(2);
    expect(told).toHaveLength(2);
    expect(notice).toMatch(/^\/\.well-known\/longhaul-notice\?next=d2&time=/);
    expect(parseWayTarget(way)).toMatchObject({
      ok: true,
      value: {
        ticket,
        origin: { scheme: 'https', host: 'origin.example', port: 443 },
        client: '127.0.0.0/24',
      },
    });
  });

  test('is told of a client once, however often that is led there with one ticket, and of none that goes step by step', async () => {
    for (let time = 0; time < 3; time += 1) await rawGet(master.port, '/get/https/origin.example/one');
    await rawGet(master.port, '/get/~signalling=stepwise/http/origin.example/steps');
    await rawGet(master.port, '/get/https/origin.example/two');
    const ways = (await hears(3)).filter((target) => isWayTarget(target));
    expect(ways).toHaveLength(2);
  });
});

describe('a request head', () => {
  test('that is too large is refused with its code', async () => {
    const answer = await rawGet(master.port, `/get/https/origin.example/${'a'.repeat(40_000)}`);
    expect(answer.status).toBe(431);
    expect(answer.headers['longhaul-error']).toBe('request-too-large');
    const { body } = await rawGet(master.port, '/metrics');
    expect(body).toMatch(/refusals_total\{code="request-too-large"\} 1/);
  });

  test('that is not HTTP is refused with its code', async () => {
    const answer = await rawRequest(master.port, 'GET / HTTP/9.9');
    expect(answer.status).toBe(400);
    expect(answer.headers['longhaul-error']).toBe('bad-request');
  });
});

test('what the master tells of itself holds neither tickets nor full URLs', async () => {
  const answer = await rawGet(master.port, '/get/https/origin.example/secret-path?token=1');
  const told = JSON.stringify(master.events);
  expect(told).toContain('origin.example');
  expect(told).not.toContain('secret-path');
  expect(told).not.toContain(relayOf(answer).ticket);
});

describe('a client that comes back for the rest of its file', () => {
  const link = '/get/https/origin.example/f';
  const ask = (range?: string) => rawGet(master.port, link, range === undefined ? [] : [`Range: ${range}`]);
  const entryOf = (answer: RawAnswer) => new URL(locationOf(answer)).port;

  test('is led to another entry depot than the one it had, each time', async () => {
    expect(entryOf(await ask())).toBe('7001');
    for (const [seconds, entry] of [
      [2, '7003'],
      [10, '7001'],
      [45, '7003'],
      [100, '7001'],
    ] as const) {
      master.clock.advance(seconds);
      for (const depot of depots) await depot.heartbeat(master);
      const answers = [await ask('bytes=1000-'), await ask('bytes=1000-')];
      expect(answers.map(entryOf)).toEqual([entry, entry]);
      expect(new Set(answers.map(locationOf)).size, 'one job').toBe(1);
    }
  });

  test.each([
    ['nothing', undefined],
    ['a part', 'bytes=1000-1999'],
    ['all of it', 'bytes=0-'],
  ])('is told from one that asks for %s once more', async (_, range) => {
    expect(entryOf(await ask())).toBe('7001');
    master.clock.advance(5);
    expect(entryOf(await ask(range))).toBe('7001');
  });

  test('is led where it was just told that it would be', async () => {
    expect(entryOf(await ask())).toBe('7001');
    master.clock.advance(5);
    const told = await fetch(`${master.url}/v1/plans`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: 'https://origin.example/f' }),
    });
    const { chain } = (await told.json()) as { chain: string[] };
    expect(chain[0]).toBe('d1');
    master.clock.advance(5);
    expect(entryOf(await ask('bytes=1000-')), 'once it has proved the way').toBe('7001');
    expect(entryOf(await ask('bytes=2000-')), 'beside that').toBe('7001');
    master.clock.advance(5);
    expect(entryOf(await ask('bytes=1000-')), 'later it has left it').toBe('7003');
  });

  test('stays where no other chain would win', async () => {
    await depots[2]?.heartbeat(master, { draining: true });
    expect(entryOf(await ask())).toBe('7001');
    master.clock.advance(5);
    expect(entryOf(await ask('bytes=1000-'))).toBe('7001');
  });
});
