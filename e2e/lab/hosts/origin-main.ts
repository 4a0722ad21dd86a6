/**
 * The lab's origin, as a process of its own: `node origin-main.ts --host <address> --port <port> [--cert
 * <file> --key <file>] [--prepare <sizeBytes>]... [--rate <bits per second of each answer> [--full-rate-to
 * <address>]...]`. Tells its parent `{ ready: { url } }` and ends when it is asked to or when the parent is
 * gone. The first answer of a size that was not prepared is late by the time it takes to make the file.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startOrigin } from '../../overlay/origin-server.ts';
import { originBytes, originContent } from './origin-content.ts';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '0' },
    cert: { type: 'string' },
    key: { type: 'string' },
    rate: { type: 'string' },
    'full-rate-to': { type: 'string', multiple: true, default: [] },
    prepare: { type: 'string', multiple: true, default: [] },
  },
});

const { host, cert, key, rate, 'full-rate-to': favoured } = values;
for (const sizeBytes of values.prepare) originBytes(Number(sizeBytes));
const origin = await startOrigin({
  listenHost: host,
  port: Number(values.port),
  content: (path, { socket }) => {
    const file = originContent(path);
    if (!file || !rate || favoured.includes(socket.remoteAddress ?? '')) return file;
    return { ...file, rateBps: Number(rate) };
  },
  ...(cert && key ? { tls: { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') } } : {}),
});

const stop = () => void origin.close().then(() => process.exit(0));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
process.on('disconnect', stop);
process.send?.({ ready: { url: `${cert && key ? 'https' : 'http'}://${host}:${origin.port}` } });
