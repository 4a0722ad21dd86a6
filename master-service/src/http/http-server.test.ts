import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { HttpServer } from './http-server.ts';

test('a server keeps so many connections and closes further ones at once', async () => {
  const server = new HttpServer((_request, response) => response.end(), undefined, 1);
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const first = connect(port, '127.0.0.1');
  first.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(first, 'data');
  const second = connect(port, '127.0.0.1');
  await once(second.resume(), 'close');
  first.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(String((await once(first, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
  first.destroy();
  await server.close();
});
