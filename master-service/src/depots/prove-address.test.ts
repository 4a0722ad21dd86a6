import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  challengeText,
  type Directory,
  directorySchema,
  parseChallengeWord,
  type Standing,
} from '@longhaul/shared';
import { verifierFor } from '@longhaul/shared/service';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { closeServer, type ListeningDepot, listenAs, listenOnLoopback } from '../testing/listening-depot.ts';
import { MemoryDepotStore } from '../testing/memory-depot-store.ts';
import { rawGet } from '../testing/raw-request.ts';
import { startMaster, type TestMaster } from '../testing/start-master.ts';
import { type DepotAnswer, TestDepot } from '../testing/test-depot.ts';
import { createAskDepot } from './ask-depot.ts';

let master: TestMaster;
afterEach(() => master.master.close());

/** A master that really asks its depots. */
async function start(config: object = {}, depotStore = new MemoryDepotStore()): Promise<void> {
  master = await startMaster({ askDepot: undefined, config, depotStore });
}

async function listening(depot: TestDepot, host?: string): Promise<ListeningDepot> {
  const listener = await listenAs(depot, host);
  onTestFinished(() => listener.close());
  return listener;
}

function directoryOf(answer: DepotAnswer): Directory {
  expect(answer.status, answer.text).toBe(200);
  return directorySchema.parse(JSON.parse(answer.text));
}

async function registered(depot: TestDepot, changes: object): Promise<Standing> {
  return directoryOf(await depot.register(master, changes)).self;
}

async function stateOf(id: string): Promise<string | undefined> {
  const status = (await (await fetch(`${master.url}/v1/status`)).json()) as {
    depots: { id: string; state: string }[];
  };
  return status.depots.find((depot) => depot.id === id)?.state;
}

/** A heartbeat, and what it makes the master ask. */
async function beat(depot: TestDepot): Promise<Directory> {
  const before = master.events.length;
  const directory = directoryOf(await depot.heartbeat(master));
  await expect
    .poll(() => master.events.slice(before).some(({ type }) => /^depot-(not-)?proved$/.test(type)))
    .toBe(true);
  return directory;
}

describe('a depot that answers at its address with its key', () => {
  test('counts when its registration is answered: for itself, for the others, and for plans', async () => {
    await start();
    const depot = new TestDepot('d1');
    const { port } = await listening(depot);
    const directory = directoryOf(await depot.register(master, { port }));
    expect(directory.self).toEqual({ state: 'up' });
    expect(directory.depots).toMatchObject([{ id: 'd1', port, addresses: ['127.0.0.1'], state: 'up' }]);
    expect(await stateOf('d1')).toBe('up');
  });

  test('is asked in the name of its master', async () => {
    await start();
    const depot = new TestDepot('d1');
    const { port, word, challenge } = await listening(depot);
    await registered(depot, { port });
    const { keyId, timeMs, signature } = parseChallengeWord(word() ?? '') ?? {};
    const { signingKey, clock } = master;
    expect([keyId, timeMs]).toEqual([signingKey.keyId, clock.nowMs]);
    const said = Buffer.from(challengeText('d1', challenge(), clock.nowMs));
    expect(verifierFor(signingKey.publicKey)?.(said, Buffer.from(signature ?? '', 'base64url'))).toBe(true);
  });

  test('is asked again after some minutes, and counts no more when it has not answered for long', async () => {
    await start();
    const depot = new TestDepot('d1');
    const listener = await listening(depot);
    await registered(depot, { port: listener.port });
    master.clock.advance(300);
    await beat(depot);
    expect(listener.asked()).toBe(2);
    await listener.close();
    master.clock.advance(1799);
    await beat(depot);
    expect(directoryOf(await depot.heartbeat(master)).self).toMatchObject({
      state: 'up',
      problem: { code: 'depot-unreachable' },
    });
    master.clock.advance(2);
    expect(directoryOf(await depot.heartbeat(master)).self).toMatchObject({ state: 'unproved' });
    expect(await stateOf('d1')).toBe('unproved');
  });

  test('has to answer again where it has moved to', async () => {
    await start();
    const depot = new TestDepot('d1');
    const [here, there] = [await listening(depot), await listening(depot)];
    await registered(depot, { port: here.port });
    await registered(depot, { port: there.port });
    await registered(depot, { port: there.port });
    expect([here.asked(), there.asked()]).toEqual([1, 1]);
    expect(await registered(depot, { port: 1 })).toMatchObject({ state: 'unproved' });
  });

  test('counts on after a restart of the master, which tells of it although it has not heard of it', async () => {
    const store = new MemoryDepotStore();
    await start({}, store);
    const [depot, other] = [new TestDepot('d1'), new TestDepot('d2')];
    for (const one of [depot, other]) await registered(one, { port: (await listening(one)).port });
    await master.master.close();
    await start({}, store);
    const { depots } = directoryOf(await other.heartbeat(master));
    expect(depots).toMatchObject([
      { id: 'd1', addresses: ['127.0.0.1'], state: 'lost' },
      { id: 'd2', state: 'up' },
    ]);
  });

  test('counts by those addresses of its name at which it answers', async () => {
    const depot = new TestDepot('d1');
    await start({ names: { 'd1.test': ['127.0.0.2', '127.0.0.1', '192.168.7.7'] } });
    const { port } = await listening(depot, 'd1.test');
    const { depots } = directoryOf(await depot.register(master, { host: 'd1.test', port }));
    expect(depots).toMatchObject([{ host: 'd1.test', addresses: ['127.0.0.1'] }]);
  });
});

describe('a depot with a name', () => {
  test('is where the configuration says, then where this machine has written it down', async () => {
    await start();
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-hosts-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const hostsFile = join(folder, 'hosts');
    writeFileSync(hostsFile, '127.0.0.2 written.test named.test\n127.0.1.1 own.invalid\n');
    const gone = createServer();
    const port = await listenOnLoopback(gone);
    await closeServer(gone);
    const ask = createAskDepot({
      // Whose own name somebody has written down for itself is to be found elsewhere.
      policy: { allow: [], ports: [], overlayNetworks: ['127.0.0.2/31'] },
      names: { 'named.test': ['127.0.0.3'] },
      hostsFile,
      signer: { current: master.signingKey },
      now: () => 0,
    });
    const whereOf = async (host: string) => {
      const { id, publicKey } = new TestDepot('d1');
      const answer = await ask({ id, publicKey, host, port, tls: false });
      return answer.ok ? undefined : answer.error.detail;
    };
    expect(await whereOf('named.test')).toContain('127.0.0.3');
    expect(await whereOf('written.test')).toContain('127.0.0.2');
    // What nobody else knows is named, since that is what has to be allowed.
    expect(await whereOf('own.invalid')).toBe('127.0.1.1');
  });
});

describe('a depot that does not', () => {
  test('because nobody can reach it is told so, and is not given out', async () => {
    await start();
    const gone = createServer();
    const port = await listenOnLoopback(gone);
    await closeServer(gone);
    const { self, depots } = directoryOf(await new TestDepot('d1').register(master, { port }));
    expect(self).toMatchObject({ state: 'unproved', problem: { code: 'depot-unreachable' } });
    expect(self.problem?.message).toContain(`http://127.0.0.1:${port}: ECONNREFUSED`);
    expect(self.problem?.message).toContain('firewall');
    expect(depots).toEqual([]);
    expect(master.events).toContainEqual(
      expect.objectContaining({ type: 'depot-not-proved', depot: 'd1', code: 'depot-unreachable' }),
    );
  });

  test.each<[string, (depot: TestDepot) => Promise<number>]>([
    [
      'a web server is',
      async () => {
        const server = createServer((_request, response) => response.end('<h1>Welcome</h1>'));
        onTestFinished(() => closeServer(server));
        return listenOnLoopback(server);
      },
    ],
    [
      'something is that speaks no HTTP',
      async () => {
        const server = createTcpServer((socket) => socket.on('error', () => {}).end('220 mail ready\r\n'));
        onTestFinished(() => void server.close());
        return new Promise((resolve) => {
          server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
        });
      },
    ],
    ['another depot is', async () => (await listening(new TestDepot('d2'))).port],
    ['somebody is who has another key', async ({ id }) => (await listening(new TestDepot(id))).port],
    ['it is known by another address', async (depot) => (await listening(depot, 'd1.test')).port],
  ])('because %s there counts for nothing', async (_, listen) => {
    await start();
    const depot = new TestDepot('d1');
    const self = await registered(depot, { port: await listen(depot) });
    expect(self).toMatchObject({ state: 'unproved', problem: { code: 'depot-not-proved' } });
  });

  test('because what is there switches protocols keeps no place among those that are asked', async () => {
    await start();
    const server = createTcpServer((socket) => {
      const odd = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
      socket.on('error', () => {}).once('data', () => socket.write(odd));
    });
    onTestFinished(() => void server.close());
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
    });
    for (let odd = 1; odd <= 17; odd += 1) {
      const self = await registered(new TestDepot(`odd${odd}`), { port });
      expect(self).toMatchObject({ state: 'unproved', problem: { code: 'depot-unreachable' } });
    }
    const depot = new TestDepot('d1');
    expect(await registered(depot, { port: (await listening(depot)).port })).toMatchObject({ state: 'up' });
  });

  test('because its name leads to a private network is not asked there', async () => {
    let connections = 0;
    const server = createServer().on('connection', () => {
      connections += 1;
    });
    onTestFinished(() => closeServer(server));
    const port = await listenOnLoopback(server);
    await start({
      names: { 'd1.test': ['127.0.0.1'] },
      addresses: { overlayNetworks: ['10.77.0.0/16'], allow: [{ network: '127.0.0.0/8', ports: [port] }] },
    });
    const self = await registered(new TestDepot('d1'), { host: 'd1.test', port });
    expect(self).toMatchObject({ state: 'unproved', problem: { code: 'depot-address-not-allowed' } });
    expect(connections).toBe(0);
  });

  test("at the address of somebody's web site keeps nobody from downloading there", async () => {
    const site = createServer((_request, response) => response.end('a file'));
    onTestFinished(() => closeServer(site));
    const port = await listenOnLoopback(site);
    await start({
      clients: ['127.0.0.0/8'],
      addresses: {
        overlayNetworks: ['127.0.0.0/8'],
        allow: [{ network: '127.0.0.0/8', ports: [port] }],
      },
    });
    await registered(new TestDepot('d1'), { port });
    expect(await rawGet(master.port, `/get/http/127.0.0.1:${port}/file`)).toMatchObject({ status: 307 });
    const depot = new TestDepot('d2');
    const own = await listening(depot);
    await registered(depot, { port: own.port });
    expect(await rawGet(master.port, `/get/http/127.0.0.1:${own.port}/file`)).toMatchObject({ status: 403 });
  });

  test('any more keeps nobody from downloading there, either, once its proof is over', async () => {
    await start({ clients: ['127.0.0.0/8'] });
    const depot = new TestDepot('d1');
    const { port } = await listening(depot);
    await registered(depot, { port });
    const refused = async () =>
      (await rawGet(master.port, `/get/http/127.0.0.1:${port}/file`)).headers['longhaul-error'];
    expect(await refused()).toBe('address-not-allowed');
    master.clock.advance(1799);
    expect(await refused()).toBe('address-not-allowed');
    master.clock.advance(2);
    expect(await refused()).not.toBe('address-not-allowed');
  });

  test('is asked again with its heartbeats, and at once when it registers', async () => {
    await start();
    const depot = new TestDepot('d1');
    const stranger = await listening(new TestDepot('d2'));
    await registered(depot, { port: stranger.port });
    master.clock.advance(5);
    await beat(depot);
    await registered(depot, { port: stranger.port });
    expect(stranger.asked()).toBe(3);
  });

  test('does not own its id: another key takes it over when nothing is heard of this one', async () => {
    await start();
    const [first, second] = [new TestDepot('d1'), new TestDepot('d1')];
    const { port } = await listening(second);
    await registered(first, { port: 1 });
    expect(await second.register(master, { port })).toMatchObject({ code: 'depot-key-mismatch' });
    master.clock.advance(16);
    expect(await registered(second, { port })).toEqual({ state: 'up' });
    master.clock.advance(3600);
    expect(await first.register(master, { port: 1 })).toMatchObject({ code: 'depot-key-mismatch' });
  });
});
