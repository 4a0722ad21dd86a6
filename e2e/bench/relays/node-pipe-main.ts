/** The relay that everybody writes first: `node node-pipe-main.ts <host> <port> <source host> <source port>`. */
import { connect, createServer } from 'node:net';

const [host = '', port, sourceHost = '', sourcePort] = process.argv.slice(2);

createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  const source = connect({ host: sourceHost, port: Number(sourcePort), allowHalfOpen: true, noDelay: true });
  client.on('error', () => source.destroy());
  source.on('error', () => client.destroy());
  client.pipe(source).pipe(client);
}).listen({ host, port: Number(port), backlog: 4096 });
