/**
 * Origin and client of one body: `node steady-body-main.ts <host> <port> <seconds> <authority>` serves a body
 * of 64 KiB each 2 ms on that port, and takes it from the address that it is told on its standard input. Says
 * as JSON the longest that a piece was on its way, and how many came.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { get } from 'node:https';
import { text } from 'node:stream/consumers';

const PIECE = Buffer.alloc(64 * 1024);
const INTERVAL_MS = 2;
/** Never sent whole. */
const STATED_BYTES = 1e12;

const [host = '', port, seconds, caFile = ''] = process.argv.slice(2);
/** When each piece was sent. */
const sentMs: number[] = [];

const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': STATED_BYTES });
  const timer = setInterval(() => {
    if (response.writableNeedDrain) return;
    sentMs.push(performance.now());
    response.write(PIECE);
  }, INTERVAL_MS);
  response.once('close', () => clearInterval(timer));
});
await new Promise<void>((resolve) => {
  server.listen({ host, port: Number(port) }, resolve);
});
const address = await text(process.stdin);
get(address.trim(), { ca: readFileSync(caFile) }, (answer) => {
  if (answer.statusCode !== 200) throw new Error(`the answer was ${answer.statusCode}`);
  let receivedBytes = 0;
  let whole = 0;
  let worstMs = 0;
  answer.on('data', (bytes: Buffer) => {
    receivedBytes += bytes.length;
    for (; (whole + 1) * PIECE.length <= receivedBytes; whole += 1)
      worstMs = Math.max(worstMs, performance.now() - (sentMs[whole] ?? 0));
  });
  setTimeout(() => {
    process.stdout.write(`${JSON.stringify({ worstMs, pieces: whole })}\n`);
    process.exit();
  }, Number(seconds) * 1000);
});
