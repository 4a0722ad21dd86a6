import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { selfSigned } from '@longhaul/shared/service';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testEndings } from '../testing/test-endings.ts';
import { KeptConnections } from './kept-connections.ts';
import { createListener, listen } from './listener.ts';
import { ListenerCertificate } from './listener-certificate.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
/** More than the kernels of both ends take. */
const BIG = Buffer.alloc(20_000_000, 'b');

describe.each<[string, ListenerCertificate | undefined]>([
  ['http', undefined],
  ...(await testEndings()).map(([who, ending]): [string, ListenerCertificate] => [
    `https by ${who}`,
    new ListenerCertificate(selfSigned(), ending),
  ]),
])('a server over %s that closes', (_, certificate) => {
  async function start(answer: RequestListener) {
    const server = createListener(answer, certificate);
    const connections = new KeptConnections(server);
    onTestFinished(() => server.closeAllConnections());
    const { port } = await listen(server, '127.0.0.1', 0);
    const open = async (): Promise<Socket> => {
      const raw = connect(port, '127.0.0.1');
      onTestFinished(() => void raw.destroy());
      await once(raw, 'connect');
      if (!certificate) return raw;
      const secured = connectTls({ socket: raw, rejectUnauthorized: false });
      await once(secured, 'secureConnect');
      return secured;
    };
    return { connections, open };
  }

  test('closes a connection that waits for nothing', async () => {
    const { connections, open } = await start((__, response) => response.end('here'));
    const [fresh, kept] = [await open(), await open()];
    kept.write(REQUEST);
    await once(kept, 'data');
    const ended = [fresh, kept].map((socket) => once(socket.resume(), 'close'));
    await connections.close();
    expect(await Promise.all(ended)).toHaveLength(2);
  });

  test('sends out an answer that was written to its end, and closes the connection then', async () => {
    let written: (() => void) | undefined;
    const isWritten = new Promise<void>((resolve) => {
      written = resolve;
    });
    const { connections, open } = await start((__, response) => {
      response.writeHead(200, { 'Content-Length': BIG.length }).end(BIG);
      written?.();
    });
    const client = await open();
    client.write(REQUEST);
    await isWritten;
    const closed = connections.close();
    let bytes = 0;
    client.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await once(client, 'close');
    expect(bytes).toBeGreaterThan(BIG.length);
    await closed;
  });

  test('waits no longer for clients that do not read, once it is told to break off', async () => {
    const { connections, open } = await start((__, response) => response.end(BIG));
    const client = await open();
    client.on('error', () => undefined).write(REQUEST);
    await once(client, 'readable');
    const closed = connections.close();
    connections.breakOff();
    await expect(closed).resolves.toBeUndefined();
  });
});
