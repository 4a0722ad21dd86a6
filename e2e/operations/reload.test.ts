import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { beforeAll, describe, type TestContext, test } from 'vitest';
import { createTestCa, type TestCa } from '../certificates/test-ca.ts';
import type { Service } from './run-service.ts';
import { configOf, testFolder } from './service-config.ts';
import { startServiceBy } from './started-service.ts';

const OWN_NAMES = ['localhost', '127.0.0.1'];
/** With that of an entry group, for those that have one and no certificate for it alone. */
const NAMES = [...OWN_NAMES, 'south.example'];
const DAY_MS = 86_400_000;

let ca: TestCa;
beforeAll(async () => {
  ca = await createTestCa();
});

/** A service with a certificate, and what a stranger sees of it. */
async function startSecure(service: Service, { onTestFinished, expect }: TestContext, more: object = {}) {
  const folder = testFolder(onTestFinished);
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const issue = async (prefix: string, names: readonly string[], from: TestCa = ca) => {
    const { certPem, keyPem } = await from.issue(names);
    put(`${prefix}cert.pem`, certPem);
    put(`${prefix}key.pem`, keyPem);
  };
  const renew = (from: TestCa = ca) => issue('', NAMES, from);
  const renewGroup = (name = 'south.example', from: TestCa = ca) => issue('group-', [name], from);
  const tls = { certFile: 'cert.pem', keyFile: 'key.pem' };
  const own = service === 'master' ? { publicUrl: 'https://localhost:0' } : {};
  const configure = (change: object = {}) => configOf(service, { tls, ...own, ...more, ...change }, folder);
  await Promise.all([renew(), renewGroup()]);
  const started = await startServiceBy('node main.ts', service, configure(), { onTestFinished });
  const port = Number(new URL(started.url).port);
  const open = async (name?: string): Promise<TLSSocket> => {
    const named = name === undefined ? {} : { servername: name };
    const socket = connect({ host: '127.0.0.1', port, ca: [ca.certPem], ...named });
    onTestFinished(() => void socket.destroy());
    await once(socket, 'secureConnect');
    return socket;
  };
  const serial = async (name?: string) => (await open(name)).getPeerCertificate().serialNumber;
  const isAlive = async (socket: TLSSocket) => {
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    return String((await once(socket, 'data'))[0]).includes('200 OK');
  };
  /** The keys of the certificates that its metrics tell of. */
  const watched = async () => {
    const socket = await open();
    socket.end('GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
    return [...(await text(socket)).matchAll(/certificate_seconds_left\{\w+="([^"]+)"\}/g)].map(
      ([, key]) => key,
    );
  };
  const log = () =>
    started
      .log()
      .split('\n')
      .filter((line) => line.includes('reloaded'));
  /** Sends a SIGHUP and gives what the log says of it. */
  const reload = async () => {
    const before = log().length;
    process.kill(started.pid, 'SIGHUP');
    await expect.poll(() => log().length).toBe(before + 1);
    return JSON.parse(log().at(-1) ?? '') as { level: number; msg: string; needsRestart: string[] };
  };
  return { folder, put, issue, renew, renewGroup, configure, open, serial, watched, isAlive, reload };
}

describe.each(['depot', 'master'] as const)('a %s that gets SIGHUP', (service) => {
  test.concurrent('serves new connections with a renewed certificate, while old ones go on', async (context) => {
    const { expect } = context;
    const { renew, open, serial, isAlive, reload } = await startSecure(service, context);
    const standing = await open();
    const first = await serial();
    expect(await isAlive(standing)).toBe(true);
    await renew();
    expect(await serial(), 'not before it is asked').toBe(first);
    expect(await reload()).toMatchObject({
      level: 30,
      msg: 'reloaded: tls',
      reloaded: ['tls'],
      certificateValidTo: expect.stringMatching(/^20\d\d-/) as string,
    });
    expect(await serial()).not.toBe(first);
    expect(await isAlive(standing)).toBe(true);
    expect(standing.getPeerCertificate().serialNumber).toBe(first);
    expect((await reload()).msg).toBe('reloaded: nothing, it is as it was');
  });

  test.concurrent.for([
    ['is no certificate', 'certFile is no certificate in PEM'],
    ['belongs to another key', 'the key in keyFile is not that of the first certificate'],
    ['is not there', 'cert.pem cannot be read: there is no such file'],
    ['has expired', 'the certificate has expired at '],
    ['is for another host', 'the certificate in certFile is not for '],
  ])('stays with the old certificate when the new one %s', async ([kind, reason = ''], context) => {
    const { expect } = context;
    const { folder, put, issue, renew, serial, isAlive, open, reload } = await startSecure(service, context);
    const first = await serial();
    const standing = await open();
    if (kind === 'is no certificate') put('cert.pem', 'torn');
    if (kind === 'belongs to another key') put('cert.pem', (await ca.issue(NAMES)).certPem);
    if (kind === 'is not there') rmSync(join(folder, 'cert.pem'));
    if (kind === 'is for another host') await issue('', ['someone.example']);
    if (kind === 'has expired') await renew(await createTestCa({ now: new Date(Date.now() - 30 * DAY_MS) }));
    const said = await reload();
    expect(said).toMatchObject({ level: 50, code: 'config-invalid' });
    expect(said.msg).toContain('not reloaded, everything goes on as it was: ');
    expect(said.msg).toContain(reason);
    expect(await serial()).toBe(first);
    expect(await isAlive(standing)).toBe(true);
    await renew();
    expect((await reload()).msg).toBe('reloaded: tls');
  });

  test.concurrent('takes no certificate for a host that it has only after a restart', async (context) => {
    const { expect } = context;
    const { configure, issue, renew, reload, serial } = await startSecure(service, context);
    const first = await serial();
    const [other, key, now] =
      service === 'depot'
        ? [{ public: { host: 'other.example' } }, 'public', '127.0.0.1']
        : [{ publicUrl: 'https://other.example' }, 'publicUrl', 'localhost'];
    configure(other);
    await issue('', ['other.example']);
    const refused = await reload();
    expect(refused.msg).toContain(`tls: the certificate in certFile is not for ${now}`);
    expect(await serial()).toBe(first);
    await renew();
    expect(await reload()).toMatchObject({ msg: `reloaded: tls; needs a restart: ${key}` });
    expect(await serial()).not.toBe(first);
  });

  test.concurrent('says which keys of a changed configuration need a restart', async (context) => {
    const { expect } = context;
    const { configure, reload, put, serial, watched } = await startSecure(service, context);
    const first = await serial();
    configure({ addresses: { ports: [8443] }, metricsNetworks: [], tls: undefined });
    const said = await reload();
    expect(said.level).toBe(40);
    expect(said.needsRestart.toSorted()).toEqual(['addresses.ports', 'metricsNetworks', 'tls']);
    expect(said.msg).toMatch(/^reloaded: nothing, it is as it was; needs a restart: /);
    expect(await serial()).toBe(first);
    expect(await watched(), 'it is still looked at').toEqual(['tls']);
    put(`${service}.yaml`, 'listen: {');
    expect((await reload()).msg).toContain('is not YAML');
  });
});

test('a depot whose secret is gone takes nothing else at a SIGHUP either', async (context) => {
  const { expect } = context;
  const { configure, renew, reload, serial } = await startSecure('depot', context);
  const first = await serial();
  await renew();
  configure({ master: { url: 'http://127.0.0.1:1' } });
  const said = await reload();
  expect(said).toMatchObject({ level: 50, code: 'depot-not-joined' });
  expect(said.msg).toContain('not reloaded, everything goes on as it was: ');
  expect(await serial()).toBe(first);
  configure();
  expect((await reload()).msg).toBe('reloaded: tls');
  expect(await serial()).not.toBe(first);
});

test('a depot that gets SIGHUP takes a renewed certificate of its entry group, and none that is of no use', async (context) => {
  const { expect } = context;
  const tls = { certFile: 'group-cert.pem', keyFile: 'group-key.pem' };
  const entryGroup = { id: 'south', host: 'south.example', tls };
  const { configure, renewGroup, serial, reload } = await startSecure('depot', context, { entryGroup });
  const group = () => serial('south.example');
  const [own, first] = [await serial(), await group()];
  expect(first).not.toBe(own);
  await renewGroup();
  expect((await reload()).msg).toBe('reloaded: entryGroup.tls');
  await expect.poll(group).not.toBe(first);
  const second = await group();
  await renewGroup('north.example');
  const notSouth = 'entryGroup.tls: the certificate in certFile is not for south.example';
  expect((await reload()).msg).toContain(notSouth);
  configure({ entryGroup: { ...entryGroup, host: 'north.example' } });
  expect((await reload()).msg, 'which it is until a restart').toContain(notSouth);
  await renewGroup('south.example', await createTestCa({ now: new Date(Date.now() - 30 * DAY_MS) }));
  expect((await reload()).msg).toContain('entryGroup.tls: the certificate has expired at ');
  expect([await serial(), await group()]).toEqual([own, second]);
});

test('a depot that shows its own certificate for its entry group takes none without the name of that', async (context) => {
  const { expect } = context;
  const entryGroup = { id: 'south', host: 'south.example' };
  const { configure, issue, renew, serial, reload } = await startSecure('depot', context, { entryGroup });
  const first = await serial('south.example');
  await issue('', OWN_NAMES);
  const tls = { certFile: 'group-cert.pem', keyFile: 'group-key.pem' };
  for (const change of [{}, { entryGroup: { ...entryGroup, tls } }, { entryGroup: undefined }]) {
    configure(change);
    expect((await reload()).msg).toContain('the certificate in certFile is not for south.example');
    expect(await serial('south.example')).toBe(first);
  }
  await renew();
  expect((await reload()).msg).toBe('reloaded: tls; needs a restart: entryGroup');
  expect(await serial('south.example')).not.toBe(first);
});
