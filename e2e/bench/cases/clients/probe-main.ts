/**
 * Small requests at a steady pace: `node probe-main.ts <interval ms>` reads lines `<name> <address> [<own
 * address>]` from its standard input, asks each address of one name after the other, over a new connection
 * each, until there are none left. Says as JSON, for each name, the longest and the median milliseconds until
 * the first byte.
 */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

const intervalMs = Number(process.argv[2]);
const lines = (await text(process.stdin))
  .trim()
  .split('\n')
  .map((line) => line.split(' '));
const names = [...new Set(lines.map(([name = '']) => name))];
const probes = await Promise.all(
  names.map(async (name) => {
    const waits: Promise<number>[] = [];
    for (const [asked, address = '', ownAddress] of lines) {
      if (asked !== name) continue;
      // None waits for the one before: what holds one up must not hide from the next.
      waits.push(firstByteMs(address, ownAddress));
      await new Promise((resolve) => {
        setTimeout(resolve, intervalMs);
      });
    }
    const ordered = (await Promise.all(waits)).toSorted((a, b) => a - b);
    return [name, { worstMs: ordered.at(-1), medianMs: ordered[Math.floor(ordered.length / 2)] }] as const;
  }),
);
process.stdout.write(`${JSON.stringify(Object.fromEntries(probes))}\n`);

function firstByteMs(address: string, localAddress?: string): Promise<number> {
  const { hostname, port, host, pathname, search } = new URL(address);
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const target = { host: hostname, port: Number(port), noDelay: true };
    const socket = connect(localAddress === undefined ? target : { ...target, localAddress });
    socket.once('data', (bytes) => {
      const isRight = bytes.toString('latin1', 0, 12) === 'HTTP/1.1 200';
      if (isRight) resolve(performance.now() - started);
      else reject(new Error(bytes.toString('latin1', 0, 300)));
      socket.destroy();
    });
    socket.once('error', reject);
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
}
