import { get as getHttp, Agent as HttpAgent, type RequestOptions } from 'node:http';
import { get as getHttps, Agent as HttpsAgent } from 'node:https';
import type { Answer } from './announcer.ts';

/** A master under full load answers late; one that has not answered by then serves nobody. */
const ANSWER_MS = 1_000;

interface HealthAsker {
  readonly ask: () => Promise<Answer>;
  readonly close: () => void;
}

/**
 * Asks a master at `url` how it is, over one connection that is kept: it needs no place among those that wait
 * to be accepted, and no handshake each time. Whose certificate it is does not matter on the way to one's own
 * machine.
 */
export function createHealthAsker(url: URL, answerMs = ANSWER_MS): HealthAsker {
  const isTls = url.protocol === 'https:';
  const kept = { keepAlive: true, maxSockets: 1 };
  const agent = isTls ? new HttpsAgent({ ...kept, rejectUnauthorized: false }) : new HttpAgent(kept);
  const get = isTls ? getHttps : getHttp;
  const ask = () =>
    new Promise<Answer>((resolve) => {
      const options: RequestOptions = { agent };
      const request = get(url, options, (response) => {
        response.once('end', () => resolve(response.statusCode === 200 ? 'well' : 'unwell'));
        response.once('close', () => resolve('refused'));
        response.resume();
      });
      const timer = setTimeout(() => {
        resolve('silent');
        request.destroy();
      }, answerMs);
      request.once('error', () => resolve('refused'));
      request.once('close', () => clearTimeout(timer));
    });
  return { ask, close: () => agent.destroy() };
}
