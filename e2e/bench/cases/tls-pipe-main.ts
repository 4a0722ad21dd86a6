/**
 * The TLS relay that everybody writes first:
 * `node tls-pipe-main.ts <host> <port> <origin> <certificate> <key> <authority>`.
 */
import { readFileSync } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';

const [host = '', port, origin = '', certFile = '', keyFile = '', caFile = ''] = process.argv.slice(2);
const isSecure = origin.startsWith('https:');
const agent = isSecure
  ? new https.Agent({ keepAlive: true, ca: readFileSync(caFile) })
  : new http.Agent({ keepAlive: true });
const { get } = isSecure ? https : http;

https
  .createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (request, response) => {
    get(origin + (request.url ?? ''), { agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    }).on('error', () => response.destroy());
  })
  .listen({ host, port: Number(port), backlog: 4096 });
