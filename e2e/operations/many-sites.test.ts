import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { createTestCa, type TestCa } from '../certificates/test-ca.ts';
import { startOrigin } from '../overlay/origin-server.ts';
import { freePort } from '../programs/free-port.ts';
import { configOf, testFolder } from './service-config.ts';
import { root, startServiceBy } from './started-service.ts';

const EXAMPLES = join(root, 'docs', 'examples', 'nats');
const natsServer = inject('natsServer');

const SECRET = 's'.repeat(43);

type OnTestFinished = (end: () => void) => void;

let ca: TestCa;
beforeAll(async () => {
  ca = await createTestCa({ commonName: 'authority of the bus' });
});

/** One overlay has one secret. */
function giveSecret(sites: readonly Site[]): void {
  for (const { folder } of sites) {
    mkdirSync(join(folder, 'state'), { mode: 0o700 });
    writeFileSync(join(folder, 'state', 'enrolment-secret'), SECRET, { mode: 0o600 });
  }
}

/** A depot that belongs to a master, in a folder of its own. */
function startDepot(id: string, masterUrl: string, addresses: object, onTestFinished: OnTestFinished) {
  const folder = testFolder(onTestFinished);
  const master = { url: masterUrl, enrolmentSecretFile: 'secret', heartbeatSeconds: 1 };
  const config = configOf('depot', { id, master, addresses }, folder);
  writeFileSync(join(folder, 'secret'), SECRET);
  return startServiceBy('node main.ts', 'depot', config, { onTestFinished });
}

interface Site {
  readonly name: string;
  readonly folder: string;
  readonly url: string;
  readonly log: () => string;
}

/** The nats-servers of the two sites in the examples, as their files stand but for addresses. */
async function startSites(onTestFinished: OnTestFinished): Promise<readonly [Site, Site]> {
  const folder = testFolder(onTestFinished);
  const [rj, pe, rjCluster, peCluster] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const start = async (name: 'rj' | 'pe', port: number, clusterPort: number, otherClusterPort: number) => {
    const site = join(folder, name);
    mkdirSync(site);
    copyFileSync(join(EXAMPLES, 'sites.conf'), join(site, 'sites.conf'));
    const config = readFileSync(join(EXAMPLES, 'nats-server.conf'), 'utf8')
      .replace('server_name: rj', `server_name: ${name}`)
      .replace('0.0.0.0:4222', `127.0.0.1:${port}`)
      .replace('0.0.0.0:6222', `127.0.0.1:${clusterPort}`)
      .replace('nats.pe.example:6222', `127.0.0.1:${otherClusterPort}`)
      .replaceAll(/(nats\.pem|nats\.key|bus-authority\.pem)/g, (file) => join(site, file));
    writeFileSync(join(site, 'nats-server.conf'), config);
    writeFileSync(join(site, 'bus-authority.pem'), ca.certPem);
    await writeCertificate(site, 'nats', ['localhost', '127.0.0.1', `nats.${name}.example`]);
    await writeCertificate(site, 'bus', [`master.${name}.example`]);
    const { log } = startServer(join(site, 'nats-server.conf'), onTestFinished);
    return { name, folder: site, url: `tls://localhost:${port}`, log };
  };
  const sites = [
    await start('rj', rj, rjCluster, peCluster),
    await start('pe', pe, peCluster, rjCluster),
  ] as const;
  for (const { log } of sites) {
    await expect.poll(log, { timeout: 10_000 }).toMatch(/Route connection created/);
  }
  return sites;
}

async function writeCertificate(folder: string, name: string, names: readonly string[]): Promise<void> {
  const { certPem, keyPem } = await ca.issue(names);
  writeFileSync(join(folder, `${name}.pem`), certPem);
  writeFileSync(join(folder, `${name}.key`), keyPem);
}

function startServer(config: string, onTestFinished: OnTestFinished): { log: () => string } {
  const child: ChildProcess = spawn(natsServer, ['-c', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let log = '';
  child.stderr?.on('data', (data) => {
    log += String(data);
  });
  return { log: () => log };
}

/** A master with the `bus` of the examples. */
function startMaster(
  { name, folder, url }: Site,
  onTestFinished: OnTestFinished,
  change: object = {},
  more: object = {},
) {
  const { bus } = parse(readFileSync(join(EXAMPLES, 'bus.yaml'), 'utf8')) as { bus: object };
  const config = configOf(
    'master',
    { bus: { ...bus, site: name, servers: [url], ...change }, ...more },
    folder,
  );
  return startServiceBy('node main.ts', 'master', config, { onTestFinished });
}

async function keysOf(url: string): Promise<string[]> {
  const answer = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
  return answer.keys.map(({ kid }) => kid).toSorted();
}

async function metric(url: string, name: string): Promise<string | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text.split('\n').find((line) => line.startsWith(name));
}

describe.skipIf(natsServer === '' && !process.env.CI)('sites with the NATS servers of the examples', () => {
  test('have masters that know of each other, over certificates', async ({ onTestFinished }) => {
    const [rj, pe] = await startSites(onTestFinished);
    const [one, two] = [await startMaster(rj, onTestFinished), await startMaster(pe, onTestFinished)];
    await expect.poll(() => keysOf(one.url), { timeout: 10_000 }).toHaveLength(2);
    const keys = await keysOf(one.url);
    await expect.poll(() => keysOf(two.url), { timeout: 10_000 }).toEqual(keys);
    expect(await metric(one.url, 'longhaul_master_bus_connected')).toBe('longhaul_master_bus_connected 1');
    expect(one.log()).toContain('connected with other masters');
    expect(`${one.log()}${two.log()}`).not.toMatch(/bus-refused|bus-malformed/);
  });

  test('have a server that lets a master speak for its own site only, and strangers not at all', async ({
    onTestFinished,
  }) => {
    const [rj, pe] = await startSites(onTestFinished);
    const read = (file: string) => readFileSync(join(pe.folder, file), 'utf8');
    const tls = { ca: ca.certPem, cert: read('bus.pem'), key: read('bus.key') };
    const ofPe = await connect({ servers: rj.url, tls });
    onTestFinished(() => void ofPe.close());
    const refused: string[] = [];
    void (async () => {
      for await (const status of ofPe.status())
        if (status.type === 'error') refused.push(status.error.message);
    })();
    ofPe.publish('longhaul.pe.told', 'mine');
    ofPe.publish('longhaul.rj.told', "another one's");
    ofPe.subscribe('longhaul.*.answer.rj.>');
    ofPe.subscribe('>');
    await ofPe.flush();
    await expect.poll(() => refused).toHaveLength(3);
    expect(refused[0]).toContain('longhaul.rj.told');

    const { certPem, keyPem } = await ca.issue(['master.am.example']);
    const strangers = [
      { ca: ca.certPem },
      { ca: ca.certPem, cert: certPem, key: keyPem },
      await (await createTestCa()).issue(['master.rj.example']).then((other) => ({
        ca: ca.certPem,
        cert: other.certPem,
        key: other.keyPem,
      })),
    ];
    for (const stranger of strangers) {
      await expect(connect({ servers: rj.url, tls: stranger, reconnect: false })).rejects.toThrow(/./);
    }
  });

  test('tell an operator whose master has the name of another site, and serve on', async ({
    onTestFinished,
  }) => {
    const [rj] = await startSites(onTestFinished);
    const one = await startMaster(rj, onTestFinished, { site: 'pe' });
    await one.said('bus-refused');
    expect((await fetch(`${one.url}/healthz`)).status).toBe(200);
    expect(await metric(one.url, 'longhaul_master_bus_failures_total{code="bus-refused"}')).toBeDefined();
  });

  test('tell an operator why a master has no connection', async ({ onTestFinished }) => {
    const [rj] = await startSites(onTestFinished);
    writeFileSync(join(rj.folder, 'bus-authority.pem'), (await createTestCa()).certPem);
    const one = await startMaster(rj, onTestFinished);
    await one.said('"detail"');
    expect(one.log()).toMatch(/"code":"bus-unreachable","detail":"[^"]*certificate/);
  });

  test('have depots that speak with the other master when their own has died, and with it again when it is back', async ({
    onTestFinished,
  }) => {
    const sites = await startSites(onTestFinished);
    const [rj, pe] = sites;
    giveSecret(sites);
    const addresses = { overlayNetworks: ['127.0.0.0/8'] };
    const port = await freePort();
    const ofRj = { addresses, depots: { heartbeatSeconds: 1 }, listen: { host: '127.0.0.1', port } };
    const one = await startMaster(rj, onTestFinished, {}, ofRj);
    const two = await startMaster(pe, onTestFinished, {}, { addresses, depots: { heartbeatSeconds: 1 } });
    await startDepot('rj', one.url, addresses, onTestFinished);
    const heard = async (url: string) =>
      Number((await metric(url, 'longhaul_master_heartbeats_total'))?.split(' ')[1]);
    const stateAt = async (url: string) => {
      const { depots } = (await (await fetch(`${url}/v1/status`)).json()) as { depots: { state: string }[] };
      return depots.map(({ state }) => state);
    };
    await expect.poll(() => stateAt(two.url), { timeout: 10_000 }).toEqual(['up']);
    expect(await heard(two.url)).toBe(0);
    process.kill(one.pid, 'SIGKILL');
    // So many that it would be lost long since.
    await expect.poll(() => heard(two.url), { timeout: 30_000 }).toBeGreaterThan(5);
    expect(await stateAt(two.url)).toEqual(['up']);
    const back = await startMaster(rj, onTestFinished, {}, ofRj);
    await expect.poll(() => heard(back.url), { timeout: 30_000 }).toBeGreaterThan(0);
    expect(await stateAt(back.url)).toEqual(['up']);
  }, 90_000);

  test('renew the keys of their masters while files come through depots of both, and every one comes', async ({
    onTestFinished,
  }) => {
    const body = randomBytes(3_000_000);
    const origin = await startOrigin({ listenHost: '127.0.0.1', content: () => ({ body }) });
    onTestFinished(() => void origin.close());
    const sites = await startSites(onTestFinished);
    giveSecret(sites);
    const ends = { lossRate: 0, rateBps: 1e9, fixed: true };
    const more = {
      addresses: {
        allow: [{ network: '127.0.0.0/8', ports: [origin.port] }],
        overlayNetworks: ['127.0.0.0/8'],
      },
      origins: [`127.0.0.1:${origin.port}`],
      depots: { heartbeatSeconds: 1 },
      keys: { renewSeconds: 2, aheadSeconds: 4 },
      planner: { explore: { share: 0 } },
      links: [
        { ...ends, between: ['client', 'origin'], rttMs: 300, lossRate: 0.02 },
        { ...ends, between: ['client', 'rj'], rttMs: 1 },
        { ...ends, between: ['rj', 'pe'], rttMs: 1 },
        { ...ends, between: ['pe', 'origin'], rttMs: 1 },
        { ...ends, between: ['rj', 'origin'], rttMs: 290, lossRate: 0.02 },
        { ...ends, between: ['client', 'pe'], rttMs: 290, lossRate: 0.02 },
      ],
    };
    const [rj, pe] = sites;
    const masters = [
      await startMaster(rj, onTestFinished, {}, more),
      await startMaster(pe, onTestFinished, {}, more),
    ] as const;
    const [first, second] = masters;
    await startDepot('rj', first.url, more.addresses, onTestFinished);
    await startDepot('pe', second.url, more.addresses, onTestFinished);
    const keys = masters.map(() => new Set<string>());
    const failed: string[] = [];
    const deadlineMs = Date.now() + 90_000;
    // Whoever downloads from one of the masters; each time another file, so that each time a ticket is signed.
    const download = async (master: number) => {
      while (keys.some(({ size }) => size < 2) && Date.now() < deadlineMs) {
        const url = `${masters[master]?.url}/get/~size=1000000000/http/127.0.0.1:${origin.port}/${randomBytes(6).toString('hex')}`;
        const { headers } = await fetch(url, { redirect: 'manual' });
        const location = headers.get('location') ?? '';
        const ticket = /\?([\w-]+)\.[\w-]+\.[\w-]+/.exec(location)?.[1];
        if (ticket === undefined) continue;
        const { kid } = JSON.parse(Buffer.from(ticket, 'base64url').toString()) as { kid: string };
        keys[master]?.add(kid);
        const answer = await fetch(location);
        if (answer.status !== 200) failed.push(`${answer.status} ${answer.headers.get('longhaul-error')}`);
        else if (!Buffer.from(await answer.arrayBuffer()).equals(body)) failed.push('other bytes');
      }
    };
    await Promise.all([download(0), download(1), download(0), download(1)]);
    expect(failed).toEqual([]);
    for (const ofOne of keys) expect(ofOne.size).toBeGreaterThan(1);
    for (const key of keys.flatMap((ofOne) => [...ofOne])) expect(await keysOf(second.url)).toContain(key);
  }, 120_000);

  test('have files that nats-server takes as they stand', async ({ onTestFinished }) => {
    const folder = testFolder(onTestFinished);
    for (const file of ['nats-server.conf', 'sites.conf'])
      copyFileSync(join(EXAMPLES, file), join(folder, file));
    writeFileSync(join(folder, 'bus-authority.pem'), ca.certPem);
    await writeCertificate(folder, 'nats', ['nats.rj.example']);
    const { status, stderr } = spawnSync(natsServer, ['-t', '-c', 'nats-server.conf'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, expect.stringContaining('is valid')]);
  });
});

test('a master whose bus certificates cannot be read does not start, and says which', async ({
  onTestFinished,
}) => {
  const folder = testFolder(onTestFinished);
  writeFileSync(join(folder, 'bus-authority.pem'), 'no certificate');
  const site = { name: 'rj', folder, url: 'tls://localhost:1', log: () => '' };
  const start = startMaster(site, onTestFinished);
  await expect(start).rejects.toThrow(/bus\.tls: .*bus\.pem[^]*bus\.trustedCaFiles\.0: /);
});
