import { Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  depotLegsSchema,
  encodeBase64url,
  formatLegsTarget,
  legsText,
  type NeighbourLeg,
} from '@longhaul/shared';
import { parseJson } from '@longhaul/shared/service';
import type { Signer } from '../keys/key-ring.ts';
import type { DepotRecord } from './depot-store.ts';
import { requestDepot } from './request-depot.ts';

/** Questions under way at once; what is beyond is not asked, and the picture lacks those legs. */
const MOST_UNDER_WAY = 64;
/** What comes later is older than anybody wants to see. */
const ASK_TIMEOUT_MS = 1_500;
/** An answer is a few lines for each neighbour. */
const MAX_ANSWER_CHARS = 8_192;

interface LegAskerInit {
  readonly signer: Signer;
  readonly registry: {
    readonly record: (id: string) => DepotRecord | undefined;
    readonly provedAddress: (id: string, nowMs: number) => string | undefined;
  };
  readonly now: () => number;
}

/** Asks depots what their connections for a job do now. */
export class LegAsker {
  readonly #init: LegAskerInit;
  /** A question is no secret, and proves itself: whoever answers in a depot's place can only tell wrong figures. */
  readonly #agents = {
    http: new HttpAgent({ keepAlive: true }),
    https: new HttpsAgent({ keepAlive: true, rejectUnauthorized: false }),
  };
  #underWay = 0;

  constructor(init: LegAskerInit) {
    this.#init = init;
  }

  /** The legs of a job at one depot; `undefined` where it does not tell. Never rejects. */
  async ask(id: string, jobId: string): Promise<readonly NeighbourLeg[] | undefined> {
    const { registry, now, signer } = this.#init;
    const timeMs = now();
    const record = registry.record(id);
    const address = registry.provedAddress(id, timeMs);
    if (!record || address === undefined || this.#underWay >= MOST_UNDER_WAY) return undefined;
    const { keyId, sign } = signer.current;
    const signature = encodeBase64url(sign(legsText(id, { jobId, timeMs })));
    const path = formatLegsTarget({ jobId, timeMs, keyId, signature });
    let text = '';
    const read = (answer: IncomingMessage) => {
      if (answer.statusCode !== 200) return answer.resume();
      return answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length <= MAX_ANSWER_CHARS) return;
        text = '';
        answer.destroy();
      });
    };
    this.#underWay += 1;
    await requestDepot(record, {
      address,
      path,
      timeoutMs: ASK_TIMEOUT_MS,
      agents: this.#agents,
      onAnswer: read,
    });
    this.#underWay -= 1;
    const told = depotLegsSchema.safeParse(parseJson(text));
    return told.success && told.data.id === id ? told.data.legs : undefined;
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }
}
