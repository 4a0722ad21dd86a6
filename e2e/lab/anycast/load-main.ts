/**
 * As many redirects as a master gives: `node load-main.ts --url <url> --ca <file> --connections <n>`. Each
 * connection is kept, and asks again when it has its answer. Tells its parent once a second how many there
 * were in all.
 */
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    ca: { type: 'string' },
    connections: { type: 'string', default: '64' },
  },
});
const connections = Number(values.connections);
const agent = new Agent({ keepAlive: true, maxSockets: connections, ca: readFileSync(values.ca ?? '') });
let redirects = 0;

function ask(): void {
  const request = get(values.url ?? '', { agent }, (response) => {
    if (response.statusCode === 307) redirects += 1;
    response.resume().once('close', ask);
  });
  // A connection that is lost is made again, but not at once for ever.
  request.once('error', () => setTimeout(ask, 100));
}

for (let connection = 0; connection < connections; connection += 1) ask();
setInterval(() => process.send?.(redirects), 1000);
process.on('disconnect', () => process.exit(0));
