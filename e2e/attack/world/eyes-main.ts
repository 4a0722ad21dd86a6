/**
 * Reads pages of services for its parent, each over a connection of its own: `node eyes-main.ts
 * [<authorities' file>]`. The message `{ id, url }` is answered with `{ id, text }` or `{ id, failure }`.
 */
import { readFileSync } from 'node:fs';
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import { text } from 'node:stream/consumers';

/** A page of a service that is well takes milliseconds. */
const PATIENCE_MS = 10_000;

const [, , caFile] = process.argv;
const ca = caFile === undefined ? undefined : readFileSync(caFile);

process.on('message', ({ id, url }: { id: number; url: string }) => {
  read(url).then(
    (content) => process.send?.({ id, text: content }),
    (failure: unknown) => process.send?.({ id, failure: String(failure) }),
  );
});
process.on('disconnect', () => process.exit(0));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0));
process.send?.({ ready: { url: 'tcp://eyes' } });

function read(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const get = url.startsWith('https:') ? getHttps : getHttp;
    const options = { agent: false, timeout: PATIENCE_MS, ...(ca ? { ca } : {}) };
    const asked = get(url, options, (answer) => resolve(text(answer)));
    asked.once('timeout', () => asked.destroy(new Error(`silent for ${PATIENCE_MS / 1000} s`)));
    asked.once('error', reject);
  });
}
