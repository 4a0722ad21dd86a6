import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ConnectionOptions, checkServerIdentity, connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestCa, type TestCa } from './test-ca.ts';

const NAMES = ['origin.test', '127.0.0.1', '::1'];

describe('a server whose certificate comes from a test authority', () => {
  let ca: TestCa;
  let port: number;
  const server = createServer((_request, response) => response.end('hello'));

  beforeAll(async () => {
    ca = await createTestCa();
    const issued = await ca.issue(NAMES);
    server.setSecureContext({ cert: issued.certPem, key: issued.keyPem });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => server.close());

  async function askAs(name: string, trust: Pick<ConnectionOptions, 'ca'>): Promise<string> {
    const socket = connect({
      host: '127.0.0.1',
      port,
      ...trust,
      checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
    });
    await once(socket, 'secureConnect');
    socket.write(`GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
    return text(socket);
  }

  test.each(NAMES)('is accepted as %s by a client that trusts the authority', async (name) => {
    expect(await askAs(name, { ca: ca.certPem })).toContain('hello');
  });

  test('is refused by a client that does not trust the authority', async () => {
    await expect(askAs('origin.test', {})).rejects.toMatchObject({ code: 'SELF_SIGNED_CERT_IN_CHAIN' });
  });

  test('is refused by a client that trusts another authority of the same name', async () => {
    const other = await createTestCa();
    await expect(askAs('origin.test', { ca: other.certPem })).rejects.toHaveProperty('code');
  });

  test('is refused under a name that was not asked for', async () => {
    await expect(askAs('other.test', { ca: ca.certPem })).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });
});

describe('a test authority', () => {
  test('names its public key by the hash that browsers take', async () => {
    const ca = await createTestCa();
    const spki = new X509Certificate(ca.certPem).publicKey.export({ type: 'spki', format: 'der' });
    expect(ca.spkiSha256Base64).toBe(createHash('sha256').update(spki).digest('base64'));
  });

  test('limits the life of what it issues', async () => {
    const now = new Date('2030-01-01T00:00:00Z');
    const ca = await createTestCa({ now, validDays: 2 });
    const { certPem } = await ca.issue(['origin.test']);
    expect(new Date(new X509Certificate(certPem).validTo)).toEqual(new Date('2030-01-03T00:00:00Z'));
  });

  test('refuses to issue a certificate without a name', async () => {
    const ca = await createTestCa();
    await expect(ca.issue([])).rejects.toThrow(TypeError);
  });
});
