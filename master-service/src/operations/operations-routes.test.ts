import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operatorRefusal } from '@longhaul/shared/service';
import { afterEach, describe, expect, test } from 'vitest';
import { rawGet } from '../testing/raw-request.ts';
import { startMaster, type TestMaster } from '../testing/start-master.ts';
import { registerDepots } from '../testing/test-depot.ts';

let master: TestMaster;
afterEach(() => master.master.close());

test('crawlers are asked to follow no download links, and to leave what programs ask for', async () => {
  master = await startMaster();
  const { status, headers, body } = await rawGet(master.port, '/robots.txt');
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(body.split('\n').slice(0, -1)).toEqual([
    'User-agent: *',
    'Disallow: /get/',
    'Disallow: /get?',
    'Disallow: /v1/',
  ]);
});

describe('the page', () => {
  test('comes with a policy that lets it load only what the master serves', async () => {
    const webDir = await mkdtemp(join(tmpdir(), 'longhaul-web-'));
    await mkdir(join(webDir, 'assets'));
    await writeFile(join(webDir, 'index.html'), '<!doctype html><title>Longhaul</title>');
    await writeFile(join(webDir, 'assets', 'x.js'), '1');
    master = await startMaster({ webDir });
    const page = await rawGet(master.port, '/');
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('<title>Longhaul') as string });
    expect(page.headers['content-security-policy']).toMatch(/default-src 'self'.*frame-ancestors 'none'/);
    expect(page.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(page.headers['x-powered-by']).toBeUndefined();
    const asset = await rawGet(master.port, '/assets/x.js');
    expect(asset.headers['cache-control']).toContain('immutable');
    expect((await rawGet(master.port, '/../package.json')).status).toBeGreaterThanOrEqual(400);
    expect((await rawGet(master.port, '/%2e%2e/package.json')).status).toBeGreaterThanOrEqual(400);
    await rm(webDir, { recursive: true });
  });

  test('that was not built says how to build it, and everything else works', async () => {
    master = await startMaster();
    const page = await rawGet(master.port, '/');
    expect(page.status).toBe(200);
    expect(page.body).toContain('npm run build');
    expect((await rawGet(master.port, '/get/https/origin.example/x')).status).toBe(307);
  });
});

describe('an operator', () => {
  test('sees that the master lives and what it knows', async () => {
    master = await startMaster({ config: { note: 'Imaginary links.' } });
    await registerDepots(master, 'd1');
    expect(await rawGet(master.port, '/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
    const status: unknown = await (await fetch(`${master.url}/v1/status`)).json();
    expect(status).toEqual({
      note: 'Imaginary links.',
      depots: [{ id: 'd1', state: 'up', heardAgoMs: 0 }],
      version: '1.2.3',
    });
  });

  test('counts redirects by decision and refusals by code', async () => {
    master = await startMaster();
    await registerDepots(master, 'd1', 'd2');
    await rawGet(master.port, '/get/https/origin.example/x');
    await rawGet(master.port, '/get/https/evil.example/x');
    const { body } = await rawGet(master.port, '/metrics');
    expect(body).toContain('longhaul_master_redirects_total{decision="chain"} 1');
    expect(body).toContain('longhaul_master_refusals_total{code="origin-not-allowed"} 1');
    expect(body).toContain('longhaul_master_depots{state="up"} 2');
  });

  test('reads them by an address or a name of the master, no page by a name that was led here, and the operator is told why', async () => {
    master = await startMaster({
      config: { publicUrl: 'http://get.example:0', metricsHosts: ['master.inside.example'] },
    });
    const pages = ['/metrics', '/v1/links', '/v1/outcomes', '/v1/feedback', '/v1/prefixes'];
    const statusesFor = async (host: string) =>
      (await Promise.all(pages.map((page) => rawGet(master.port, page, [`Host: ${host}`])))).map(
        ({ status }) => status,
      );
    const names = ['127.0.0.1:8460', '[::1]:8460', 'localhost:8460', 'master.inside.example'];
    for (const host of names) expect([host, ...(await statusesFor(host))]).not.toContain(403);
    for (const host of [
      'evil.example',
      'evil.example:8460',
      'get.example.evil.example',
      '127.0.0.1.evil.example',
    ])
      expect(await statusesFor(host)).toEqual(Array(pages.length).fill(403));
    const { body } = await rawGet(master.port, '/metrics', [
      'Host: prometheus.example',
      'Accept: application/json',
    ]);
    expect(body).toContain('name-not-listed');
    expect(body).toContain('metricsHosts');
  });

  test('reads them by the public name from another machine, nobody through a reverse proxy on this one that does not say so', async () => {
    const publicUrl = 'http://get.example:0';
    const statusFor = async (config: object, headers = ['Host: get.example']) => {
      master = await startMaster({ config: { publicUrl, ...config } });
      const { status } = await rawGet(master.port, '/metrics', headers);
      await master.master.close();
      return status;
    };
    expect(await statusFor({})).toBe(404);
    expect(await statusFor({ metricsHosts: ['get.example'] }), 'where the operator says so').toBe(200);
    expect(await statusFor({}, ['Host: 127.0.0.1'])).toBe(200);
    const access = { networks: ['192.0.2.0/24'], hosts: [], publicHosts: ['get.example'] };
    const from = (remoteAddress: string) =>
      ({ headers: { host: 'get.example' }, socket: { remoteAddress } }) as IncomingMessage;
    expect(operatorRefusal(from('192.0.2.7'), access)).toBeUndefined();
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
      expect(operatorRefusal(from(address), { ...access, networks: ['127.0.0.0/8', '::1/128'] })?.code).toBe(
        'not-found',
      );
  });

  test('alone reads the metrics', async () => {
    master = await startMaster({ config: { metricsNetworks: ['192.0.2.0/24'] } });
    expect(await rawGet(master.port, '/metrics')).toMatchObject({ status: 404 });
  });

  test.each(['X-Forwarded-For: 127.0.0.1', 'Forwarded: for=127.0.0.1'])(
    'reads them on the machine itself, nobody through a reverse proxy there (%s)',
    async (header) => {
      master = await startMaster();
      expect(await rawGet(master.port, '/metrics')).toMatchObject({ status: 200 });
      expect(await rawGet(master.port, '/metrics', [header])).toMatchObject({ status: 404 });
    },
  );
});
