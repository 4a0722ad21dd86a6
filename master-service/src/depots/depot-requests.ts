import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { encodeBase64url, formatAuthority } from '@longhaul/shared';
import type { Signer } from '../keys/key-ring.ts';
import type { DepotRecord } from './depot-store.ts';

/** Requests under way to one depot: one that does not answer must not take the places of all others. */
const MOST_TO_ONE = 16;

/** Who is asked, and in whose name. */
export interface DepotLine {
  readonly signer: Signer;
  readonly registry: {
    readonly record: (id: string) => DepotRecord | undefined;
    readonly provedAddress: (id: string, nowMs: number) => string | undefined;
  };
  readonly now: () => number;
}

interface DepotRequestsInit extends DepotLine {
  /** Requests under way at once; no more are sent meanwhile. */
  readonly most: number;
  readonly timeoutMs: number;
  /**
   * Authorities, PEM, beside the usual ones of which one has to vouch for a depot's certificate; left out,
   * anybody may answer who is where the depot was: right for what is no secret.
   */
  readonly authorities?: readonly string[];
}

/** A depot that can be asked now. */
export interface AskableDepot {
  readonly record: DepotRecord;
  /** Where it has proved to be. */
  readonly address: string;
}

/** What a master has signed for one depot, as its message carries it. */
interface Signed {
  readonly keyId: string;
  /** Ed25519, base64url. */
  readonly signature: string;
}

/** Requests of one kind to depots, a `GET` each, over connections that are kept. */
export class DepotRequests {
  readonly #init: DepotRequestsInit;
  readonly #http = new HttpAgent({ keepAlive: true });
  #https: HttpsAgent;
  #underWay = 0;
  readonly #underWayTo = new Map<string, number>();

  constructor(init: DepotRequestsInit) {
    this.#init = init;
    this.#https = httpsAgent(init.authorities);
  }

  /**
   * The depot, where it has proved to be; `undefined` where that is not known, or too many requests are under
   * way, to it or in all.
   */
  find(id: string): AskableDepot | undefined {
    const { registry, now, most } = this.#init;
    if (this.#underWay >= most || (this.#underWayTo.get(id) ?? 0) >= MOST_TO_ONE) return undefined;
    const record = registry.record(id);
    const address = registry.provedAddress(id, now());
    return record && address !== undefined ? { record, address } : undefined;
  }

  /** Signs in the master's name. */
  sign(text: string): Signed {
    const { keyId, sign } = this.#init.signer.current;
    return { keyId, signature: encodeBase64url(sign(text)) };
  }

  /** Asks a depot. Resolves when the exchange is over, however it ended; never rejects. */
  async get(
    { record, address }: AskableDepot,
    path: string,
    onAnswer: (answer: IncomingMessage) => void,
  ): Promise<void> {
    const { host, port, tls } = record;
    const common = {
      host: address,
      port,
      path,
      headers: { host: formatAuthority(host, port) },
    };
    this.#count(record.id, 1);
    const outgoing = tls
      ? requestHttps({ ...common, agent: this.#https, ...(isIP(host) ? {} : { servername: host }) })
      : requestHttp({ ...common, agent: this.#http });
    outgoing.once('response', (answer) => {
      // What breaks off is no answer.
      answer.on('error', () => {});
      onAnswer(answer);
    });
    // A depot that cannot be reached is found out by its heartbeats.
    outgoing.on('error', () => {});
    outgoing.end();
    // A signal would go off, and make an error of it, also after the answer.
    const timer = setTimeout(() => outgoing.destroy(), this.#init.timeoutMs);
    await new Promise((resolve) => outgoing.once('close', resolve));
    clearTimeout(timer);
    this.#count(record.id, -1);
  }

  #count(id: string, by: 1 | -1): void {
    this.#underWay += by;
    const left = (this.#underWayTo.get(id) ?? 0) + by;
    if (left > 0) this.#underWayTo.set(id, left);
    else this.#underWayTo.delete(id);
  }

  /** Takes other authorities for the next connections. */
  renewAuthorities(authorities: readonly string[]): void {
    this.#https.destroy();
    this.#https = httpsAgent(authorities);
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

function httpsAgent(authorities: readonly string[] | undefined): HttpsAgent {
  if (!authorities) return new HttpsAgent({ keepAlive: true, rejectUnauthorized: false });
  // Given as texts the authorities would be read anew for each connection, which takes milliseconds.
  const secureContext = createSecureContext({ ca: [...rootCertificates, ...authorities] });
  return new HttpsAgent({ keepAlive: true, secureContext });
}
