import { request } from 'node:http';
import { authorityOf } from '@longhaul/shared/service';
import type { DepotFiles } from '../config-file.ts';
import { createDial } from '../sockets/dial.ts';
import { createResolver } from '../sockets/resolver.ts';
import { createTrust, secure } from '../sockets/secure.ts';

/** A master answers from memory; what takes longer than this is not going to come. */
const ANSWER_TIMEOUT_MS = 5000;
/** A `Date` header says whole seconds: on average the time is half a second later. */
const DATE_ROUNDING_MS = 500;

/**
 * How far the clock of this machine is ahead of its master's, in milliseconds, to within about a second. Rejects when
 * the master does not answer.
 */
export async function readMasterOffsetMs(
  { config, trustedAuthorities }: DepotFiles,
  nowMs: () => number,
): Promise<number> {
  const { url } = config.master;
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const dial = createDial({
    resolve: createResolver(config.names),
    policy: config.addresses,
    isOverlayAddress: () => false,
    connectTimeoutMs: ANSWER_TIMEOUT_MS,
  });
  const place = authorityOf(url);
  const { socket } = await dial({ purpose: 'master', ...place }, signal);
  const lost = 'master-unreachable';
  const stream = url.startsWith('https:')
    ? await secure(
        socket,
        place.host,
        createTrust(trustedAuthorities),
        { refused: lost, broken: lost, timeout: lost },
        signal,
      )
    : socket;
  try {
    return await new Promise<number>((resolve, reject) => {
      const askedMs = nowMs();
      const base = new URL(url);
      const outgoing = request({
        path: `${base.pathname.replace(/\/$/, '')}/healthz`,
        headers: { host: base.host, connection: 'close' },
        createConnection: () => stream,
        signal,
      });
      outgoing.once('error', reject);
      outgoing.once('response', (answer) => {
        answer.resume();
        const masterMs = Date.parse(answer.headers.date ?? '') + DATE_ROUNDING_MS;
        if (Number.isNaN(masterMs)) reject(new Error('the master tells no time'));
        else resolve((askedMs + nowMs()) / 2 - masterMs);
      });
      outgoing.end();
    });
  } finally {
    stream.destroy();
  }
}
