/**
 * A client that asks all the time: `node probe-main.ts --url <url> --ca <file> --every <ms>`. Each question has a connection of
 * its own and waits for nobody else's answer. Tells its parent of each answer.
 */
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { parseArgs } from 'node:util';
import { ANSWER_MS, type Probe } from './probe.ts';

const { values } = parseArgs({
  options: { url: { type: 'string' }, ca: { type: 'string' }, every: { type: 'string', default: '20' } },
});
const agent = new Agent({ keepAlive: false, ca: readFileSync(values.ca ?? '') });

function ask(): void {
  const startedAtMs = Date.now();
  const tell = (outcome: Pick<Probe, 'site' | 'failure'>) =>
    process.send?.({ startedAtMs, endedAtMs: Date.now(), ...outcome } satisfies Probe);
  const request = get(values.url ?? '', { agent }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    response.once('end', () => tell({ site: (JSON.parse(text) as { note: string }).note }));
  });
  const timer = setTimeout(() => request.destroy(new Error('no answer')), ANSWER_MS);
  request.once('error', (failure) => tell({ failure: failure.message }));
  request.once('close', () => clearTimeout(timer));
}

setInterval(ask, Number(values.every));
process.on('disconnect', () => process.exit(0));
