import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  addressProofText,
  type ConnectProof,
  formatAuthority,
  formatProof,
  HEADERS,
  type HeartbeatRequest,
  parseChallengeTarget,
  proofText,
  type RegisterRequest,
} from '@longhaul/shared';
import { generateKeyPair, type KeyPair, parseKeyPair, signRequest } from '@longhaul/shared/service';
import type { Ground, Target } from './ground.ts';
import { type RawHead, readHead } from './read-answer.ts';

const PORT = 8080;
const HEAD_END = '\r\n\r\n';
const BEAT_MS = 500;
export const LIAR_ID = 'liar';

/**
 * How a caller's request that is no challenge is treated: `head` without its last empty line, and what came
 * behind it.
 */
export type Treat = (socket: Socket, head: string, rest: Buffer) => void;

/** What stands at a place of a chain, for a call to the depot behind it. */
export interface Call {
  readonly ticket: string;
  readonly chainIndex: number;
  /** The caller's own place. */
  readonly place: number;
  readonly host: string;
  readonly port: number;
}

/** A depot with the enrolment secret and a key of its own, which does as the attacker likes. */
export class LyingDepot {
  readonly #ground: Ground;
  readonly key: KeyPair;
  readonly epoch = randomBytes(12).toString('base64url');
  #sequence = 0;
  #lastMs = 0;

  constructor(ground: Ground) {
    this.#ground = ground;
    this.key = keepKey(join(ground.facts.folder, 'liar.pem'));
  }

  get place(): { readonly host: string; readonly port: number; readonly tls: boolean } {
    return { host: this.#ground.facts.own.liar, port: PORT, tls: false };
  }

  /** Listens, registers and sends heartbeats until the strike is over. Rejects when the master does not take it. */
  async join(treat: Treat, report: () => Partial<HeartbeatRequest> = () => ({})): Promise<void> {
    await this.#listen(treat);
    const registered = await this.register();
    if (registered !== 200) throw new Error(`the master did not take the lying depot: ${registered}`);
    void this.#beat(report);
  }

  /** Registers, or tries to; gives the status. */
  async register(changes: Partial<RegisterRequest> = {}, sign = this.#sign): Promise<number> {
    const body = { id: LIAR_ID, publicKey: this.key.publicKey, ...this.place, ...changes };
    return this.post('/v1/depots', body, { sign, enrols: true });
  }

  /** Sends a signed request to the master; gives the status. */
  async post(
    path: string,
    body: object,
    { sign = this.#sign, enrols = false, stamp = this.stamp() } = {},
  ): Promise<number> {
    const text = JSON.stringify(body);
    const secret = enrols ? readFileSync(this.#ground.facts.secretFile, 'utf8').trim() : undefined;
    const headers = signRequest({ method: 'POST', path, stamp, body: text }, sign, secret);
    return this.#ground.send('master', 'POST', path, { body: text, headers });
  }

  stamp(): { timeMs: number; epoch: string; sequence: number } {
    this.#sequence += 1;
    return { timeMs: Date.now(), epoch: this.epoch, sequence: this.#sequence };
  }

  /** Proves to be the depot at a place of a chain. */
  prove({ ticket, chainIndex, place }: Omit<Call, 'host' | 'port'>): ConnectProof {
    this.#lastMs = Math.max(Date.now(), this.#lastMs + 1);
    const claim = { depot: LIAR_ID, timeMs: this.#lastMs };
    return { ...claim, signature: this.#sign(proofText(claim, ticket, chainIndex, place)) };
  }

  /** Calls the next depot of a chain; gives the connection and what it answers. */
  async call(
    target: Target,
    call: Call,
    proof: ConnectProof = this.prove(call),
  ): Promise<{ socket: Socket; head: RawHead | undefined }> {
    const socket = await this.#ground.open(target, { from: this.#ground.facts.own.liar });
    socket.write(connectText(call, proof));
    return { socket, head: await readHead(socket) };
  }

  readonly #sign = (text: string) => Buffer.from(this.key.sign(text)).toString('base64url');

  async #listen(treat: Treat): Promise<void> {
    const server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
      let come = Buffer.alloc(0);
      socket.on('error', () => socket.destroy());
      const onData = (chunk: Buffer) => {
        come = Buffer.concat([come, chunk]);
        const end = come.indexOf(HEAD_END);
        if (end < 0) return;
        socket.off('data', onData);
        const head = come.toString('latin1', 0, end);
        const challenge = parseChallengeTarget(head.split(' ')[1] ?? '');
        if (challenge.ok) socket.end(this.#proofOfAddress(challenge.value));
        else treat(socket, head, come.subarray(end + HEAD_END.length));
      };
      socket.on('data', onData);
    });
    server.listen({ host: this.place.host, port: PORT });
    await once(server, 'listening');
  }

  #proofOfAddress(challenge: string): string {
    const signature = this.#sign(addressProofText(LIAR_ID, this.place, challenge));
    const body = JSON.stringify({ id: LIAR_ID, signature });
    return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  }

  async #beat(report: () => Partial<HeartbeatRequest>): Promise<void> {
    const { signal, tally } = this.#ground;
    while (!signal.aborted) {
      const body = { activeTransfers: 0, draining: false, links: [], sizes: [], ...report() };
      const status = await this.post(`/v1/depots/${LIAR_ID}/heartbeat`, body).catch(() => 0);
      tally.answer(`heartbeat: ${status}`);
      await delay(BEAT_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** A depot's question for a tunnel, as it goes over the wire. */
export function connectText({ ticket, chainIndex, host, port }: Call, proof: ConnectProof): string {
  const authority = formatAuthority(host, port);
  return [
    `CONNECT ${authority} HTTP/1.1`,
    `Host: ${authority}`,
    `${HEADERS.ticket}: ${ticket}`,
    `${HEADERS.chain}: ${chainIndex}`,
    `${HEADERS.proof}: ${formatProof(proof)}`,
    '',
    '',
  ].join('\r\n');
}

/** The same key for every strike in a world: the id belongs to it. */
function keepKey(file: string): KeyPair {
  if (!existsSync(file)) writeFileSync(file, generateKeyPair().toPem());
  return parseKeyPair(readFileSync(file, 'utf8'), file);
}
