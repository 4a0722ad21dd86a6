import { createHash } from 'node:crypto';
import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { SoakOutcome } from './soak-line.ts';

/** How one download behaves. */
export type Manner =
  | { readonly kind: 'reads-all' }
  /** Resets its connection after so many bytes; 0: as soon as it has asked. */
  | { readonly kind: 'leaves'; readonly afterBytes: number }
  /** Stops reading for a while after so many bytes, then goes on to the end. */
  | { readonly kind: 'pauses'; readonly afterBytes: number; readonly pauseMs: number };

/** Downloads once through the master, and looks whether the bytes are right. Never rejects. */
export async function download(link: string, sha256: string, manner: Manner): Promise<SoakOutcome> {
  const agent = new Agent({ keepAlive: false });
  try {
    const redirect = await ask(link, agent);
    redirect.resume();
    const { location } = redirect.headers;
    if (redirect.statusCode !== 307 || !location) return 'broke';
    return await fetchBody(location, agent, sha256, manner);
  } catch {
    return manner.kind === 'leaves' && manner.afterBytes === 0 ? 'left' : 'broke';
  } finally {
    agent.destroy();
  }
}

function ask(url: string, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, resolve).once('error', reject);
  });
}

async function fetchBody(url: string, agent: Agent, sha256: string, manner: Manner): Promise<SoakOutcome> {
  if (manner.kind === 'leaves' && manner.afterBytes === 0) {
    const asked = get(url, { agent });
    asked.on('error', () => {});
    await delay(Math.random() * 20);
    asked.destroy();
    return 'left';
  }
  const answer = await ask(url, agent);
  const hash = createHash('sha256');
  let bytes = 0;
  let hasPaused = false;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
      if (manner.kind === 'leaves' && bytes >= manner.afterBytes) {
        answer.socket.resetAndDestroy();
        return 'left';
      }
      if (manner.kind === 'pauses' && !hasPaused && bytes >= manner.afterBytes) {
        hasPaused = true;
        await delay(manner.pauseMs);
      }
    }
  } catch {
    return 'broke';
  }
  return hash.digest('hex') === sha256 ? 'whole' : 'wrong';
}
