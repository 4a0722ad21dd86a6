import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawGet } from '../testing/raw-request.ts';
import { startMaster, type TestMaster } from '../testing/start-master.ts';
import { registerDepots, TestDepot } from '../testing/test-depot.ts';

let master: TestMaster;

beforeAll(async () => {
  master = await startMaster({
    config: {
      origins: ['origin.example', '*.sub.example:8443', '127.0.0.1', '127.0.0.1:9000', '[::1]', '10.0.0.1'],
      addresses: { ports: [8443], allow: [{ network: '127.0.0.0/8', ports: [9000] }] },
    },
  });
  await registerDepots(master, 'd1', 'd2');
});
afterAll(() => master.master.close());

async function refusalOf(target: string): Promise<string> {
  const answer = await rawGet(master.port, target);
  expect('location' in answer.headers).toBe(answer.status === 307);
  return answer.headers['longhaul-error'] ?? `accepted ${answer.status}`;
}

describe('the master sends nobody', () => {
  test.each([
    ['to an origin that is not listed', '/get/https/evil.example/x', 'origin-not-allowed'],
    ['to whatever is named before the target', 'http://origin.example/x', 'not-found'],
    ['to a listed one by another name before it', 'http://x/get/https/evil.example/x', 'origin-not-allowed'],
    ['to a mouse of one either', '/get/~size=1/https/evil.example/x', 'origin-not-allowed'],
    ['by the form either', '/get?url=https%3A%2F%2Fevil.example%2F', 'origin-not-allowed'],
    ['to a name below a listed one', '/get/https/x.origin.example/', 'origin-not-allowed'],
    ['to a name that only ends like a listed one', '/get/https/evilorigin.example/', 'origin-not-allowed'],
    ['to a name that only begins so', '/get/https/origin.example.evil.example/', 'origin-not-allowed'],
    ['past the host by credentials', '/get/https/origin.example@evil.example/', 'url-has-credentials'],
    ['with a password', '/get/https/user:secret@origin.example/', 'url-has-credentials'],
    ['past the host by a backslash', '/get/https/evil.example\\.origin.example/', 'bad-url'],
    ['past the host by an encoded slash', '/get/https/evil.example%2f.origin.example/', 'bad-url'],
    ['to another scheme', '/get/ftp/origin.example/', 'unknown-scheme'],
    ['to a script', '/get?url=javascript%3Aalert(1)', 'bad-url'],
    ['to an address without a scheme', '/get?url=%2F%2Fevil.example%2F', 'bad-url'],
    ['to an absent host', '/get/https//evil.example/', 'bad-url'],
    ['to port 0', '/get/https/origin.example:0/', 'bad-port'],
    ['to port 65536', '/get/https/origin.example:65536/', 'bad-port'],
    ['to a port that nobody allowed', '/get/https/origin.example:22/', 'port-not-allowed'],
    ['to a listed name on an unlisted port', '/get/https/a.sub.example/', 'origin-not-allowed'],
  ])('%s', async (_, target, code) => {
    expect(await refusalOf(target)).toBe(code);
  });

  test.each([
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:0:0:1]',
    '10.0.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.168.1.1',
    '0.0.0.0',
    '[fe80::1]',
    '[fd00::1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[4000::1]',
    'localhost',
    'LOCALHOST.',
    'x.localhost',
  ])('into a private network: %s, not even where it is listed', async (host) => {
    expect(await refusalOf(`/get/http/${host}/`)).toBe('target-not-public');
    expect(await refusalOf(`/get?url=${encodeURIComponent(`http://${host}/`)}`)).toBe('target-not-public');
  });

  test('back into the overlay, however its address is written', async () => {
    const own = await startMaster({
      config: { clients: ['127.0.0.0/8'], addresses: { allow: [{ network: '127.0.0.0/8', ports: [7001] }] } },
    });
    await registerDepots(own, 'd1');
    await new TestDepot('d2').register(own, { host: '::ffff:127.0.0.2', port: 7001 });
    const hosts = ['127.0.0.1', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', 'localhost', '127.0.0.2'];
    for (const host of hosts) {
      const depot = await rawGet(own.port, `/get/http/${host}:7001/x`);
      expect(depot.headers['longhaul-error'], host).toBe('address-not-allowed');
    }
    const self = await rawGet(own.port, `/get/http/127.0.0.1:${own.port}/x`);
    expect(self.headers['longhaul-error']).toBe('address-not-allowed');
    await own.master.close();
  });
});

describe('the master serves', () => {
  test.each([
    ['a listed origin', '/get/https/ORIGIN.example./x'],
    ['a listed origin, with the master before the target', 'http://master/get/https/origin.example/x'],
    ['a name below a listed one, on its port', '/get/https/a.b.sub.example:8443/x'],
    ['an address that the operator excepted, on its port', '/get/http/127.0.0.1:9000/x'],
  ])('%s', async (_, target) => {
    expect(await refusalOf(target)).toBe('accepted 307');
  });

  test('listed clients from everywhere', async () => {
    const forClients = await startMaster({ config: { origins: [], clients: ['127.0.0.0/8'] } });
    expect((await rawGet(forClients.port, '/get/https/any.example/x')).status).toBe(307);
    await forClients.master.close();
  });
});

describe('a refusal', () => {
  const target = '/get/https/evil.example/<script>alert(1)</script>?"&\'';

  test('is for browsers a page that names the target as text and leads to this master only', async () => {
    const answer = await rawGet(master.port, target, ['Accept: text/html,*/*;q=0.8']);
    expect(answer.status).toBe(403);
    expect(answer.headers['content-type']).toContain('text/html');
    expect(answer.body).toContain(
      'https://evil.example/&lt;script&gt;alert(1)&lt;/script&gt;?&quot;&amp;&#39;',
    );
    expect(answer.body).not.toMatch(/<script|http-equiv/);
    const addresses = [...answer.body.matchAll(/(?:href|action|src)="([^"]*)"/g)].map(([, text]) => text);
    expect(new Set(addresses)).toEqual(new Set(['../../../../', '../../../../help#origin-not-allowed']));
    expect(answer.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'longhaul-error': 'origin-not-allowed',
    });
    expect(answer.headers.refresh).toBeUndefined();
  });

  test('is for tools text with code, sentence and help', async () => {
    const answer = await rawGet(master.port, target);
    expect(answer.headers['content-type']).toContain('text/plain');
    expect(answer.body).toMatch(/^origin-not-allowed: This master does not serve that origin: .*\.\n$/);
  });

  test('of a whole URL behind /get/ says what to write instead', async () => {
    const answer = await rawGet(master.port, '/get/https://origin.example/f?a=b');
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('(write /get/https/origin.example/f?a=b)');
  });

  test('names the help where people find this master, whatever was asked for', async () => {
    const known = await startMaster({ config: { publicUrl: 'http://get.example:0' } });
    for (const missing of [target, '/nothing'])
      expect((await rawGet(known.port, missing)).body).toContain(`\nHelp: ${known.url}/help#`);
    expect(known.url).toMatch(/^http:\/\/get\.example:\d+$/);
    await known.master.close();
  });

  test('of a page that is not there has a code too', async () => {
    const answer = await rawGet(master.port, '/nothing');
    expect(answer).toMatchObject({ status: 404, headers: { 'longhaul-error': 'not-found' } });
    expect((await rawGet(master.port, '/%')).status).toBeLessThan(500);
  });
});
