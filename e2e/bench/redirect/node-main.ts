/** What Node's own server costs without anything of ours: `node node-main.ts <port> [certificate key]`. */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';

const [port, certFile, keyFile] = process.argv.slice(2);
const listener: RequestListener = (_, response) => {
  response.writeHead(307, { Location: 'http://d1.example/file?ticket', 'Content-Length': 0 });
  response.end();
};
const server =
  certFile === undefined || keyFile === undefined
    ? createServer(listener)
    : createSecureServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, listener);
server.listen(Number(port), '127.0.0.1', () =>
  process.send?.({ ready: { url: `http://127.0.0.1:${port}` } }),
);
process.once('SIGINT', () => process.exit());
