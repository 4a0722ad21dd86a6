/**
 * A client that asks all the time: `node ask-main.ts --url <url> [--ca <file>] --every <ms>`. Each question
 * has a connection of its own and waits for nobody else's answer; `{n}` in the URL is its number. Tells its
 * parent of each answer.
 */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { parseArgs } from 'node:util';
import { ANSWER_MS, type Question } from './asker.ts';

const { values } = parseArgs({
  options: { url: { type: 'string' }, ca: { type: 'string' }, every: { type: 'string', default: '20' } },
});
const { url = '', ca } = values;
const { Agent, get } = url.startsWith('https:') ? https : http;
const agent = new Agent({ keepAlive: false, ...(ca === undefined ? {} : { ca: readFileSync(ca) }) });
let asked = 0;

function ask(): void {
  const startedAtMs = Date.now();
  asked += 1;
  const tell = (outcome: Pick<Question, 'answer' | 'failure'>) =>
    process.send?.({ startedAtMs, endedAtMs: Date.now(), ...outcome } satisfies Question);
  const request = get(url.replace('{n}', String(asked)), { agent }, (response) => {
    const { statusCode: status = 0, headers } = response;
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    response.once('end', () => tell({ answer: { status, location: headers.location ?? '', text } }));
  });
  const timer = setTimeout(() => request.destroy(new Error('no answer')), ANSWER_MS);
  request.once('error', (failure) => tell({ failure: failure.message }));
  request.once('close', () => clearTimeout(timer));
}

setInterval(ask, Number(values.every));
process.on('disconnect', () => process.exit(0));
