import { encodeBase64url, type HeartbeatRequest, signedRequestText } from '@longhaul/shared';
import { generateKeyPair, type KeyPair, macOf, sha256Text } from '@longhaul/shared/service';
import { registrationText } from '../depots/depot-authentication.ts';
import type { TestMaster } from './start-master.ts';

interface DepotAnswer {
  readonly status: number;
  readonly code: string | null;
  readonly signature: string | null;
  readonly text: string;
  /** What the answer's signature must be bound to. */
  readonly requestSignature: string;
}

/** A depot's half of the protocol between depot and master. */
export class TestDepot {
  readonly id: string;
  readonly #key: KeyPair = generateKeyPair();

  constructor(id: string) {
    this.id = id;
  }

  get publicKey(): string {
    return this.#key.publicKey;
  }

  /** Registers with the master's secret and clock, unless others are given. */
  register(
    master: TestMaster,
    changes: object = {},
    { secret = master.secret, timeMs = master.clock.nowMs } = {},
  ): Promise<DepotAnswer> {
    const port = 7000 + Number(this.id.replace(/\D/g, ''));
    const body = JSON.stringify({
      id: this.id,
      publicKey: this.publicKey,
      host: '127.0.0.1',
      port,
      tls: false,
      ...changes,
    });
    const mac = macOf(secret, registrationText(timeMs, Buffer.from(body)));
    const headers = { 'Longhaul-Time': String(timeMs), 'Longhaul-Enrolment': mac };
    return post(`${master.url}/v1/depots`, body, headers, mac);
  }

  heartbeat(master: TestMaster, changes: Partial<HeartbeatRequest> = {}): Promise<DepotAnswer> {
    const beat = { activeTransfers: 0, draining: false, links: [], sizes: [], ...changes };
    return this.post(master, `/v1/depots/${this.id}/heartbeat`, beat);
  }

  followUp(master: TestMaster, ticket: string, url: string, avoid?: readonly string[]): Promise<DepotAnswer> {
    const body = { ticket, url, ...(avoid ? { avoid } : {}) };
    return this.post(master, `/v1/depots/${this.id}/follow-ups`, body);
  }

  /** A signed request; `sent` replaces what is sent after it was signed. */
  post(
    master: TestMaster,
    path: string,
    value: object,
    sent: { readonly body?: string; readonly timeMs?: number; readonly path?: string } = {},
  ): Promise<DepotAnswer> {
    const body = JSON.stringify(value);
    const timeMs = sent.timeMs ?? master.clock.nowMs;
    const text = signedRequestText('POST', path, timeMs, sha256Text(body));
    const signature = encodeBase64url(this.#key.sign(text));
    const headers = { 'Longhaul-Time': String(timeMs), 'Longhaul-Signature': signature };
    return post(`${master.url}${sent.path ?? path}`, sent.body ?? body, headers, signature);
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

async function post(
  url: string,
  body: string,
  headers: Record<string, string>,
  requestSignature: string,
): Promise<DepotAnswer> {
  const response = await fetch(url, { method: 'POST', body, headers });
  return {
    status: response.status,
    code: response.headers.get('longhaul-error'),
    signature: response.headers.get('longhaul-signature'),
    text: await response.text(),
    requestSignature,
  };
}
