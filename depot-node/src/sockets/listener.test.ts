import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get, request } from 'node:https';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls, type PeerCertificate, TLSSocket } from 'node:tls';
import { beginKeyUpdates, selfSigned } from '@longhaul/shared/service';
import { expect, onTestFinished, test } from 'vitest';
import { testEndings } from '../testing/test-endings.ts';
import { createListener, listen } from './listener.ts';
import { ListenerCertificate } from './listener-certificate.ts';

test.each(await testEndings())(
  'by %s, a renewed certificate is for new connections, while those that stand go on',
  async (_, ending) => {
    const [first, second] = [selfSigned(), selfSigned()];
    const certificate = new ListenerCertificate(first, ending);
    const server = createListener((asked, response) => asked.pipe(response), certificate);
    onTestFinished(() => server.closeAllConnections());
    onTestFinished(() => void server.close());
    const { port } = await listen(server, '127.0.0.1', 0);
    const options = { host: '127.0.0.1', port, agent: false, rejectUnauthorized: false };

    const standing = request({ ...options, method: 'POST' });
    standing.write('before, ');
    const [answer] = (await once(standing, 'response')) as [IncomingMessage];
    certificate.renew(second);
    const [newer] = (await once(get(options), 'response')) as [IncomingMessage];
    expect(pemOf(newer.socket)).toBe(second.cert);

    expect(() => certificate.renew({ cert: first.cert, key: second.key })).toThrow('key values mismatch');
    const [newest] = (await once(get(options), 'response')) as [IncomingMessage];
    expect(pemOf(newest.socket)).toBe(second.cert);
    standing.end('and after');
    expect(await text(answer)).toBe('before, and after');
    expect(pemOf(answer.socket)).toBe(first.cert);
  },
);

test.each(await testEndings())(
  'by %s, who asks for the name of the entry group gets its certificate, and everybody else the depot’s own',
  async (_, ending) => {
    const [own, group, next] = [selfSigned(), selfSigned(), selfSigned()];
    const certificate = new ListenerCertificate(
      { ...own, named: [{ host: 'south.example', ...group }] },
      ending,
    );
    const server = createListener((_asked, response) => response.end('ok'), certificate);
    onTestFinished(() => void server.close());
    const { port } = await listen(server, '127.0.0.1', 0);
    const seenBy = async (servername: string) => {
      const options = { host: '127.0.0.1', port, agent: false, rejectUnauthorized: false, servername };
      const [answer] = (await once(get(options), 'response')) as [IncomingMessage];
      return pemOf(answer.resume().socket);
    };
    expect([await seenBy('south.example'), await seenBy('d1.example')]).toEqual([group.cert, own.cert]);
    certificate.renew({ ...own, named: [{ host: 'south.example', ...next }] });
    expect([await seenBy('South.Example'), await seenBy('d1.example')]).toEqual([next.cert, own.cert]);
  },
);

test.each(await testEndings())(
  'by %s, who sends new keys and nothing else is left, and others are served',
  async (_, ending) => {
    const certificate = new ListenerCertificate(selfSigned(), ending);
    const server = createListener((_asked, response) => response.end('ok'), certificate);
    onTestFinished(() => void server.close());
    const { port } = await listen(server, '127.0.0.1', 0);
    const nuisance = connect(port, '127.0.0.1');
    nuisance.on('error', () => {});
    await once(nuisance, 'connect');
    const updates = await beginKeyUpdates(nuisance);
    const left = once(nuisance, 'close');
    nuisance.write(Buffer.concat(Array.from({ length: 1_200 }, () => updates.next())));
    const options = { host: '127.0.0.1', port, agent: false, rejectUnauthorized: false };
    const [answer] = (await once(get(options), 'response')) as [IncomingMessage];
    expect(await text(answer)).toBe('ok');
    await left;
  },
);

test.each(await testEndings())(
  'by %s, who offers dear groups only is refused, also once a certificate was renewed, and who offers a cheap one is served',
  async (_, ending) => {
    const own = { ...selfSigned(), named: [{ host: 'south.example', ...selfSigned() }] };
    const certificate = new ListenerCertificate(own, ending);
    const server = createListener((_asked, response) => response.end('ok'), certificate);
    onTestFinished(() => void server.close());
    const { port } = await listen(server, '127.0.0.1', 0);
    const isServed = async (ecdhCurve: string, more: object) => {
      const options = { host: '127.0.0.1', port, rejectUnauthorized: false, ecdhCurve, ...more };
      const client = connectTls(options);
      const served = await once(client, 'secureConnect').then(
        () => true,
        () => false,
      );
      client.on('error', () => {}).destroy();
      return served;
    };
    for (const material of [own, { ...own, ...selfSigned() }]) {
      if (material !== own) certificate.renew(material);
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        for (const servername of ['d1.example', 'south.example']) {
          const options = { minVersion: version, maxVersion: version, servername };
          for (const group of ['P-521', 'P-384'])
            expect(await isServed(group, options), `${group}, ${version}`).toBe(false);
          // Of the last one a client says a key of what it likes best, and is asked for another.
          for (const group of ['P-256', 'X25519', 'P-521:P-256'])
            expect(await isServed(group, options), `${group}, ${version}`).toBe(true);
        }
      }
    }
  },
);

function pemOf(socket: unknown): string {
  if (!(socket instanceof TLSSocket)) throw new Error('no TLS');
  const { raw }: PeerCertificate = socket.getPeerCertificate();
  const lines = raw.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
