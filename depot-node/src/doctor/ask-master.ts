import { existsSync } from 'node:fs';
import { depotBaseUrl, type RegisterRequest, type TrialAnswer } from '@longhaul/shared';
import { awaitAnswer, FailedChecks, openStateFolder, request } from '@longhaul/shared/service';
import type { DepotFiles } from '../config-file.ts';
import { AddressChallenges } from '../directory/address-challenges.ts';
import { MasterClient } from '../directory/master-client.ts';
import { proofOf } from '../directory/masters-proof.ts';
import { reachMaster } from '../directory/reach-master.ts';
import { identityForTrial } from '../identity.ts';
import { createResolver } from '../names/resolver.ts';
import { createDial, type Dial } from '../sockets/dial.ts';
import { createListener, listen } from '../sockets/listener.ts';
import { ListenerCertificate } from '../sockets/listener-certificate.ts';
import { Trust } from '../sockets/trust.ts';

/** A master answers from memory; what takes longer than this is not going to come. */
const ANSWER_TIMEOUT_MS = 5000;
/** A `Date` header says whole seconds: on average the time is half a second later. */
const DATE_ROUNDING_MS = 500;

/** What the configured master says of this machine. */
export interface AskMaster {
  /**
   * How far the clock of this machine is ahead of its master's, in milliseconds, to within about a second. Rejects when
   * the master does not answer.
   */
  readonly readOffsetMs: () => Promise<number>;
  /**
   * What the master would say to the registration of this depot. While the depot does not run, somebody
   * listens in its place and answers the master. Rejects with the master's code.
   */
  readonly tryRegistration: () => Promise<Trial>;
}

export interface Trial extends TrialAnswer {
  /** The address that was tried. */
  readonly baseUrl: string;
}

export function createAskMaster(files: DepotFiles, nowMs: () => number): AskMaster {
  const { config } = files;
  const dial = createDial({
    resolve: createResolver({ names: config.names, servers: config.resolver.servers, nowMs }),
    policy: config.addresses,
    isOverlayAddress: () => false,
    connectTimeoutMs: ANSWER_TIMEOUT_MS,
  });
  return {
    readOffsetMs: () => readOffsetMs(files, dial, nowMs),
    tryRegistration: () => tryRegistration(files, dial, nowMs),
  };
}

async function tryRegistration(files: DepotFiles, dial: Dial, nowMs: () => number): Promise<Trial> {
  const { config, stateDir, enrolmentSecret, tls, trustedAuthorities } = files;
  const identity = identityForTrial(config.id, stateDir);
  const proof = proofOf(
    enrolmentSecret,
    existsSync(stateDir) ? openStateFolder(stateDir) : { read: () => undefined },
  );
  const client = new MasterClient({
    masterUrl: config.master.url,
    identity,
    proof,
    dial,
    trust: new Trust(trustedAuthorities),
    nowMs,
  });
  let place: Pick<RegisterRequest, 'host' | 'port' | 'tls'> = {
    host: config.public?.host ?? config.listen.host,
    port: config.public?.port ?? config.listen.port,
    tls: tls !== undefined,
  };
  const isOwn = () => false;
  const challenges = new AddressChallenges({
    identity,
    place: () => place,
    masterKey: () => undefined,
    isOwn,
    noteMaster: () => {},
    failedChecks: new FailedChecks({ isOwn, nowMs }),
    nowMs,
  });
  const standIn = createListener((asked, response) => {
    const proof = challenges.answer(asked.url ?? '', asked.socket.remoteAddress ?? '');
    response.writeHead(proof.ok ? 200 : proof.error.status);
    response.end(proof.ok ? JSON.stringify(proof.value) : '');
  }, tls && new ListenerCertificate(tls));
  // Where the port is taken, the depot itself answers.
  const bound = await listen(standIn, config.listen.host, config.listen.port).catch(() => undefined);
  try {
    if (place.port === 0 && bound) place = { ...place, port: bound.port };
    return { ...(await client.tryRegistration(place)), baseUrl: depotBaseUrl(place) };
  } finally {
    standIn.closeAllConnections();
    standIn.close();
  }
}

async function readOffsetMs(
  { config, trustedAuthorities }: DepotFiles,
  dial: Dial,
  nowMs: () => number,
): Promise<number> {
  const { url } = config.master;
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const stream = await reachMaster(url, { dial, trust: new Trust(trustedAuthorities) }, signal);
  try {
    const askedMs = nowMs();
    const base = new URL(url);
    const outgoing = request({
      path: `${base.pathname.replace(/\/$/, '')}/healthz`,
      headers: { host: base.host, connection: 'close' },
      createConnection: () => stream,
      signal,
    });
    const answering = awaitAnswer(outgoing);
    outgoing.end();
    const answer = await answering;
    answer.resume();
    const masterMs = Date.parse(answer.headers.date ?? '') + DATE_ROUNDING_MS;
    if (Number.isNaN(masterMs)) throw new Error('the master tells no time');
    return (askedMs + nowMs()) / 2 - masterMs;
  } finally {
    stream.destroy();
  }
}
