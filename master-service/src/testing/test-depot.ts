import {
  encodeBase64url,
  type HeartbeatRequest,
  type JoinToken,
  newKeyText,
  OVERLAY_KEY,
} from '@longhaul/shared';
import { generateKeyPair, type KeyPair, keyPairOf, signRequest } from '@longhaul/shared/service';
import type { TestMaster } from './start-master.ts';

export interface DepotAnswer {
  readonly status: number;
  readonly code: string | null;
  readonly signature: string | null;
  readonly text: string;
  /** What the answer's signature must be bound to. */
  readonly requestSignature: string;
  /** Sends the same bytes once more, as somebody who has recorded them. */
  readonly again: () => Promise<DepotAnswer>;
}

/** What of a request is not as it should be. */
interface Faults {
  readonly secret?: string | undefined;
  readonly timeMs?: number;
  readonly sequence?: number | undefined;
  /** The key that signs. */
  readonly key?: KeyPair;
  /** Signed for this path. */
  readonly to?: string;
  /** Sent in place of what was signed. */
  readonly body?: string;
  readonly path?: string;
  /** Signs with a join token's key. */
  readonly enrol?: (text: string) => string;
}

let processes = 0;

/** A depot's half of the protocol between depot and master: one process with its key. */
export class TestDepot {
  readonly id: string;
  readonly key: KeyPair;
  readonly #epoch: string;
  #sequence = 0;
  /** Whether it knows masters by the overlay's key. */
  #hasJoined = false;

  constructor(id: string, key = generateKeyPair()) {
    this.id = id;
    this.key = key;
    processes += 1;
    this.#epoch = `epoch-${String(processes).padStart(6, '0')}`;
  }

  get publicKey(): string {
    return this.key.publicKey;
  }

  /** The next process of the same depot, after a restart or beside this one. */
  nextProcess(): TestDepot {
    return new TestDepot(this.id, this.key);
  }

  /** Takes a number for a request that is sent later. */
  nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  register(master: TestMaster, changes: object = {}, faults: Faults = {}): Promise<DepotAnswer> {
    const port = 7000 + Number(this.id.replace(/\D/g, ''));
    const registration = {
      id: this.id,
      publicKey: this.publicKey,
      host: '127.0.0.1',
      port,
      tls: false,
      ...changes,
    };
    const { to = '/v1/depots', ...rest } = faults;
    return this.post(master, to, registration, { secret: master.secret, ...rest });
  }

  /** Registers as a depot does that has joined: without the secret. */
  registerJoined(master: TestMaster, changes: object = {}): Promise<DepotAnswer> {
    return this.register(master, changes, { secret: undefined });
  }

  /** Joins with a token. */
  join(
    master: TestMaster,
    { id: token, seed }: JoinToken,
    site = this.id,
    key = this.key,
  ): Promise<DepotAnswer> {
    const { id } = this;
    this.#hasJoined = true;
    const tokenKey = keyPairOf(Buffer.from(seed, 'base64url'));
    const enrol = (text: string) => encodeBase64url(tokenKey.sign(text));
    return this.post(
      master,
      '/v1/depots/join',
      { id, publicKey: key.publicKey, site, token },
      { key, enrol },
    );
  }

  /** Takes another key. */
  renewKey(master: TestMaster, key: KeyPair, faults: Faults = {}): Promise<DepotAnswer> {
    const signature = encodeBase64url(key.sign(newKeyText(this.id, this.publicKey, key.publicKey)));
    return this.post(master, `/v1/depots/${this.id}/key`, { publicKey: key.publicKey, signature }, faults);
  }

  /** Asks what would come of a registration. */
  tryRegistration(master: TestMaster, changes: object = {}, faults: Faults = {}): Promise<DepotAnswer> {
    return this.register(master, changes, { to: '/v1/depots/trial', ...faults });
  }

  heartbeat(
    master: TestMaster,
    changes: Partial<HeartbeatRequest> = {},
    faults: Faults = {},
  ): Promise<DepotAnswer> {
    const beat = { activeTransfers: 0, draining: false, links: [], sizes: [], ...changes };
    return this.post(master, `/v1/depots/${this.id}/heartbeat`, beat, faults);
  }

  /** A heartbeat that is ready to be sent. */
  signedHeartbeat(master: TestMaster): { path: string; body: string; headers: Record<string, string> } {
    const path = `/v1/depots/${this.id}/heartbeat`;
    const body = JSON.stringify({ activeTransfers: 0, draining: false, links: [], sizes: [] });
    const stamp = { timeMs: master.clock.nowMs, epoch: this.#epoch, sequence: this.nextSequence() };
    const sign = (text: string) => encodeBase64url(this.key.sign(text));
    return { path, body, headers: signRequest({ method: 'POST', path, stamp, body }, sign) };
  }

  followUp(master: TestMaster, ticket: string, url: string, avoid?: readonly string[]): Promise<DepotAnswer> {
    const body = { ticket, url, ...(avoid ? { avoid } : {}) };
    return this.post(master, `/v1/depots/${this.id}/follow-ups`, body);
  }

  /** A signed request, under the secret's MAC where one is given. */
  post(master: TestMaster, path: string, value: object, faults: Faults = {}): Promise<DepotAnswer> {
    const { secret, timeMs = master.clock.nowMs, key = this.key } = faults;
    const body = JSON.stringify(value);
    const stamp = { timeMs, epoch: this.#epoch, sequence: faults.sequence ?? this.nextSequence() };
    const sign = (text: string) => encodeBase64url(key.sign(text));
    const signed = signRequest({ method: 'POST', path, stamp, body }, sign, faults.enrol ?? secret);
    const headers = this.#hasJoined ? { ...signed, 'longhaul-proofs': OVERLAY_KEY } : signed;
    return post(`${master.url}${faults.path ?? path}`, faults.body ?? body, headers);
  }
}

/** Registers depots with these ids. */
export async function registerDepots(master: TestMaster, ...ids: string[]): Promise<TestDepot[]> {
  const depots = ids.map((id) => new TestDepot(id));
  for (const depot of depots) {
    const { status, text } = await depot.register(master);
    if (status !== 200) throw new Error(text);
  }
  return depots;
}

async function post(url: string, body: string, headers: Record<string, string>): Promise<DepotAnswer> {
  const response = await fetch(url, { method: 'POST', body, headers });
  return {
    status: response.status,
    code: response.headers.get('longhaul-error'),
    signature: response.headers.get('longhaul-signature'),
    text: await response.text(),
    requestSignature: headers['longhaul-signature'] ?? '',
    again: () => post(url, body, headers),
  };
}
