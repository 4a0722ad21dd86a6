/**
 * The honest origin of the arena and its name server, as a process of its own: `node web-main.ts --host
 * <address> --zone <JSON> [--cert <file> --key <file>]`. On the message `take` it tells its parent which URLs
 * it was asked for since the last one.
 */
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { parseArgs } from 'node:util';
import { originContent } from '../../lab/hosts/origin-content.ts';
import { startNamesServer } from '../../overlay/names-server.ts';
import { type OriginServer, startOrigin } from '../../overlay/origin-server.ts';
import { arenaZone, type ZoneAddresses } from './zone.ts';

const NAMES_PORT = 53;

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '' },
    zone: { type: 'string', default: '{}' },
    cert: { type: 'string' },
    key: { type: 'string' },
  },
});

const { host: listenHost, cert, key } = values;
let asked = new Set<string>();
const noteFrom = (scheme: string) => (request: IncomingMessage) => {
  asked.add(`${scheme}://${request.headers.host ?? ''}${request.url ?? ''}`);
};
const origins: OriginServer[] = [
  await startOrigin({ listenHost, port: 80, content: originContent, onRequest: noteFrom('http') }),
];
if (cert && key) {
  const tls = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  origins.push(
    await startOrigin({ listenHost, port: 443, tls, content: originContent, onRequest: noteFrom('https') }),
  );
}
const closeNames = await startNamesServer(
  listenHost,
  NAMES_PORT,
  arenaZone(JSON.parse(values.zone) as ZoneAddresses),
);

process.on('message', () => {
  process.send?.({ asked: [...asked] });
  asked = new Set();
});
const stop = () => {
  closeNames();
  void Promise.all(origins.map((origin) => origin.close())).then(() => process.exit(0));
};
for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.on(signal, stop);
process.send?.({ ready: { url: `http://${listenHost}` } });
