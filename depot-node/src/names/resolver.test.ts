import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { standStill } from '../testing/stand-still.ts';
import { startTestDns, type TestDns, type TestName } from '../testing/test-dns.ts';
import { createResolver, type NameAsker } from './resolver.ts';

const CLIENT: NameAsker = { client: '203.0.113.0/24' };
const OTHER: NameAsker = { client: '198.51.100.0/24' };

let dns: TestDns;
let folder: string;
let nowMs: number;
beforeEach(async () => {
  dns = await startTestDns();
  folder = mkdtempSync(join(tmpdir(), 'longhaul-names-'));
  nowMs = 0;
});
afterEach(async () => {
  await dns.close();
  rmSync(folder, { recursive: true });
});

const hostsFile = () => join(folder, 'hosts');

/** A resolver of its own, asked by a client that waits until the test ends. */
function resolverWith(init: { names?: Record<string, readonly string[]>; timeoutMs?: number } = {}) {
  const resolve = createResolver({
    names: init.names ?? {},
    servers: [dns.server],
    hostsFile: hostsFile(),
    timeoutMs: init.timeoutMs ?? 10_000,
    nowMs: () => nowMs,
  });
  return (host: string, forWhom: NameAsker = CLIENT, signal = new AbortController().signal) =>
    resolve(host, { signal, forWhom });
}

const both: TestName = { A: ['192.0.2.1', '192.0.2.2'], AAAA: ['2001:db8::1'] };
const silent: TestName = { A: 'silent', AAAA: 'silent' };

/** So many names that DNS says nothing of. */
function silentNames(count: number): string[] {
  const names = Array.from({ length: count }, (_, index) => `silent${index}.test`);
  dns.names = { ...dns.names, ...Object.fromEntries(names.map((name) => [name, silent])) };
  return names;
}

/**
 * Asks for names in portions that the socket of the test's DNS holds: what it drops is asked for again only
 * after seconds.
 */
async function askInPortions<End>(
  names: readonly string[],
  ask: (name: string, index: number) => Promise<End>,
): Promise<Promise<End>[]> {
  const asked: Promise<End>[] = [];
  for (let begin = 0; begin < names.length; begin += 50) {
    asked.push(...names.slice(begin, begin + 50).map((name, index) => ask(name, begin + index)));
    await turnOfTheLoop();
  }
  return asked;
}

describe('a name', () => {
  test('has the addresses of both families, IPv6 first', async () => {
    dns.names = { 'file.test': both };
    expect(await resolverWith()('file.test')).toEqual(['2001:db8::1', '192.0.2.1', '192.0.2.2']);
  });

  test.each([
    ['IPv6', { A: ['192.0.2.1'], AAAA: 'silent' }, ['192.0.2.1']],
    ['IPv4', { A: 'silent', AAAA: ['2001:db8::1'] }, ['2001:db8::1']],
  ] as const)('is resolved although nothing is said of its %s', async (_, name, addresses) => {
    dns.names = { 'file.test': name };
    expect(await resolverWith()('file.test')).toEqual(addresses);
  });

  test('has its IPv4 addresses, too, when they are told late: a depot without IPv6 reaches nobody else', async () => {
    dns.names = { 'file.test': { ...both, lateMs: 200 } };
    expect(await resolverWith()('file.test')).toEqual(['2001:db8::1', '192.0.2.1', '192.0.2.2']);
  });

  test('that does not exist, or has no address, is refused', async () => {
    dns.names = { 'empty.test': {} };
    const resolve = resolverWith();
    await expect(resolve('absent.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolve('empty.test')).rejects.toMatchObject({ code: 'ENODATA' });
  });

  test('is asked for as it stands: no search domain is added', async () => {
    await expect(resolverWith()('short')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(new Set(dns.asked)).toEqual(new Set(['short']));
  });

  test('is not waited for without end', async () => {
    const [host = ''] = silentNames(1);
    await expect(resolverWith({ timeoutMs: 50 })(host)).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('what stands nearer than DNS', () => {
  test('are literals, the static table, then the hosts file', async () => {
    writeFileSync(hostsFile(), '192.0.2.7 in-file.test in-table.test\n');
    const resolve = resolverWith({ names: { 'in-table.test': ['192.0.2.9'] } });
    expect(await resolve('192.0.2.8')).toEqual(['192.0.2.8']);
    expect(await resolve('2001:db8::8')).toEqual(['2001:db8::8']);
    expect(await resolve('in-table.test')).toEqual(['192.0.2.9']);
    expect(await resolve('in-file.test')).toEqual(['192.0.2.7']);
    expect(dns.asked).toEqual([]);
  });

  test('is not missed where there is no such file, or it cannot be read', async () => {
    dns.names = { 'file.test': both };
    mkdirSync(hostsFile());
    expect(await resolverWith()('file.test')).toHaveLength(3);
  });

  test('is no part of the language: a name that every object has is asked for', async () => {
    await expect(resolverWith()('constructor')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  test('is this machine, whatever the files say', async () => {
    expect(await resolverWith()('localhost')).toEqual(['127.0.0.1', '::1']);
    expect(dns.asked).toEqual([]);
  });

  test('is seen when the hosts file changes', async () => {
    dns.names = { 'moved.test': both };
    writeFileSync(hostsFile(), '# nobody yet\n');
    const resolve = resolverWith();
    expect(await resolve('moved.test')).toHaveLength(3);
    writeFileSync(
      hostsFile(),
      '# both families, with comments\n192.0.2.5\tmoved.test MOVED # here\n2001:db8::5 moved.test\n',
    );
    nowMs += 10_000;
    expect(await resolve('moved.test')).toEqual(['192.0.2.5', '2001:db8::5']);
    expect(await resolve('moved')).toEqual(['192.0.2.5']);
  });
});

describe('questions', () => {
  test('of several askers for one name are one', async () => {
    dns.names = { 'file.test': both };
    const resolve = resolverWith();
    const all = await Promise.all([resolve('file.test'), resolve('file.test', OTHER), resolve('file.test')]);
    expect(new Set(all.flat()).size).toBe(3);
    expect(dns.asked).toHaveLength(2);
  });

  test('end with the last of their askers, and not before', async () => {
    const [host = ''] = silentNames(1);
    const resolve = resolverWith();
    const [one, other] = [new AbortController(), new AbortController()];
    const first = resolve(host, CLIENT, one.signal);
    const second = resolve(host, OTHER, other.signal);
    await expect.poll(() => dns.asked.length).toBe(2);
    one.abort(new Error('one has left'));
    await expect(first).rejects.toThrow('one has left');
    // The other's question still runs: a third asker joins it.
    const third = resolve(host, OTHER, other.signal);
    other.abort(new Error('the other, too'));
    await expect(second).rejects.toThrow('the other, too');
    await expect(third).rejects.toThrow('the other, too');
    expect(dns.asked).toHaveLength(2);
    dns.names = { [host]: both };
    expect(await resolve(host)).toHaveLength(3);
  });

  test('are not asked again while an answer lives, which is as long as DNS says, within bounds', async () => {
    dns.names = {
      'short.test': { A: ['192.0.2.1'], ttlSeconds: 0 },
      'usual.test': { A: ['192.0.2.1'], ttlSeconds: 60 },
      'long.test': { A: ['192.0.2.1'], ttlSeconds: 86_400 },
    };
    const resolve = resolverWith();
    const askAll = async () => {
      dns.asked.length = 0;
      for (const host of Object.keys(dns.names)) await resolve(host);
      return [...new Set(dns.asked)];
    };
    expect(await askAll()).toEqual(['short.test', 'usual.test', 'long.test']);
    nowMs += 4_000;
    expect(await askAll()).toEqual([]);
    nowMs += 10_000;
    expect(await askAll()).toEqual(['short.test']);
    nowMs += 50_000;
    expect(await askAll()).toEqual(['short.test', 'usual.test']);
    nowMs += 300_000;
    expect(await askAll()).toEqual(['short.test', 'usual.test', 'long.test']);
  });

  test('that failed are not asked again for a moment', async () => {
    const resolve = resolverWith();
    await expect(resolve('late.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    dns.names = { 'late.test': both };
    const { length } = dns.asked;
    await expect(resolve('late.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(dns.asked).toHaveLength(length);
    nowMs += 10_000;
    expect(await resolve('late.test')).toHaveLength(3);
  });
});

test('a clock that is set back keeps no answer for longer', async () => {
  const resolve = resolverWith();
  await expect(resolve('late.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  dns.names = { 'late.test': both };
  nowMs -= 3_600_000;
  expect(await resolve('late.test')).toHaveLength(3);
  dns.names = { 'late.test': { A: ['192.0.2.9'] } };
  nowMs -= 3_600_000;
  expect(await resolve('late.test')).toEqual(['192.0.2.9']);
});

describe('while DNS says nothing of many names', () => {
  test('a client network is refused after some of them, and the others and the overlay are served', async () => {
    const names = silentNames(40);
    dns.names = { ...dns.names, 'file.test': both, 'master.test': both };
    const resolve = resolverWith();
    const asker = new AbortController();
    const asked = names.map((name) =>
      resolve(name, CLIENT, asker.signal).catch((failure: { code?: string }) => failure.code ?? 'left'),
    );
    expect(await resolve('file.test', OTHER)).toHaveLength(3);
    expect(await resolve('master.test', 'overlay')).toHaveLength(3);
    await expect(resolve('file2.test', CLIENT)).rejects.toMatchObject({ code: 'resolver-busy', status: 503 });
    asker.abort(Object.assign(new Error(), { code: undefined }));
    const ends = await Promise.all(asked);
    expect(ends.filter((end) => end === 'left').length).toBeGreaterThanOrEqual(8);
    expect(ends.filter((end) => end === 'resolver-busy').length).toBeGreaterThanOrEqual(8);
    // Who gave up has given its room back.
    dns.names = { 'file3.test': both };
    expect(await resolve('file3.test', CLIENT)).toHaveLength(3);
  });

  test('networks together are refused when all room is taken, and the overlay is served', async () => {
    const names = silentNames(600);
    dns.names = { ...dns.names, 'file.test': both, 'master.test': both };
    const resolve = resolverWith();
    const asker = new AbortController();
    const asked = await askInPortions(names, (name, index) =>
      resolve(name, { client: `198.51.${index}.0/24` }, asker.signal).catch(
        (failure: { code?: string }) => failure.code,
      ),
    );
    await expect(resolve('file.test')).rejects.toMatchObject({ code: 'resolver-busy' });
    expect(await resolve('master.test', 'overlay')).toHaveLength(3);
    asker.abort();
    await Promise.all(asked);
  });

  test('a name that is known costs no room', async () => {
    dns.names = { 'file.test': both };
    const resolve = resolverWith();
    await resolve('file.test');
    const asker = new AbortController();
    const asked = silentNames(40).map((name) => resolve(name, CLIENT, asker.signal).catch(() => undefined));
    expect(await resolve('file.test')).toHaveLength(3);
    asker.abort();
    await Promise.all(asked);
  });

  test('the neighbours that send clients on have more room than a client, each its own', async () => {
    const names = silentNames(300);
    dns.names = { ...dns.names, 'file.test': both };
    const resolve = resolverWith();
    const asker = new AbortController();
    const asked = await askInPortions(names, (name) =>
      resolve(name, { depot: 'd1' }, asker.signal).catch((failure: { code?: string }) => failure.code),
    );
    await expect(resolve('file2.test', { depot: 'd1' })).rejects.toMatchObject({ code: 'resolver-busy' });
    expect(await resolve('file.test', { depot: 'd2' })).toHaveLength(3);
    asker.abort();
    const ends = await Promise.all(asked);
    expect(ends.filter((code) => code === 'resolver-busy').length).toBeLessThan(200);
  });
});

describe("the overlay's own names", () => {
  test('keep their last addresses while DNS is dead', async () => {
    dns.names = { 'd2.test': both };
    const resolve = resolverWith();
    const addresses = await resolve('d2.test', 'overlay');
    dns.names = { 'd2.test': silent };
    nowMs += 3_600_000;
    expect(await resolve('d2.test', 'overlay')).toEqual(addresses);
    expect(await resolve('d2.test', 'overlay')).toEqual(addresses);
  });

  test('have the new addresses as soon as DNS tells them', async () => {
    dns.names = { 'd2.test': both };
    const resolve = resolverWith();
    await resolve('d2.test', 'overlay');
    dns.names = { 'd2.test': { A: ['192.0.2.77'] } };
    nowMs += 3_600_000;
    expect(await resolve('d2.test', 'overlay')).toEqual(['192.0.2.77']);
  });

  test('have the new addresses where DNS has told them and this process stood still', async () => {
    dns.names = { 'd2.test': both };
    const resolve = resolverWith();
    await resolve('d2.test', 'overlay');
    nowMs += 3_600_000;
    let questions = 0;
    dns.names = {
      get 'd2.test'() {
        questions += 1;
        // When both families have been told.
        if (questions === 2) setImmediate(standStill, 700);
        return { A: ['192.0.2.77'] };
      },
    };
    expect(await resolve('d2.test', 'overlay')).toEqual(['192.0.2.77']);
  });

  test('are all resolved, however many there are at once', async () => {
    const hosts = Array.from({ length: 300 }, (_, index) => `d${index}.test`);
    dns.names = Object.fromEntries(hosts.map((host) => [host, both]));
    const resolve = resolverWith();
    const found = await Promise.all(hosts.map((host) => resolve(host, 'overlay')));
    expect(found.every((addresses) => addresses.length === 3)).toBe(true);
  });
});
