/**
 * Many small downloads: `node beginnings-main.ts <at once> <bytes>` reads addresses of http from its standard
 * input, one a line, and takes each over a connection of its own. Says as JSON how many were whole, and the
 * seconds.
 */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

const [atOnce, bodyBytes] = process.argv.slice(2).map(Number);
const addresses = (await text(process.stdin)).trim().split('\n');
const counts = { whole: 0, seconds: 0 };
let firstWrong: string | undefined;
let next = 0;
const started = performance.now();
await Promise.all(Array.from({ length: atOnce ?? 1 }, oneAfterTheOther));
counts.seconds = (performance.now() - started) / 1000;
process.stdout.write(`${JSON.stringify({ ...counts, firstWrong })}\n`);

async function oneAfterTheOther(): Promise<void> {
  for (let address = addresses[next++]; address !== undefined; address = addresses[next++]) {
    const answer = await download(address);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    if (head.startsWith('HTTP/1.1 200') && body.length === bodyBytes) counts.whole += 1;
    else firstWrong ??= answer.slice(0, 300);
  }
}

function download(address: string): Promise<string> {
  const { hostname, port, host, pathname, search } = new URL(address);
  return new Promise((resolve) => {
    let said = '';
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.setEncoding('latin1').on('data', (piece: string) => {
      said += piece;
    });
    socket.once('error', (failure) => {
      said += failure.message;
    });
    socket.once('close', () => resolve(said));
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
}
