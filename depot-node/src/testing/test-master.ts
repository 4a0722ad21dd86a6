import { createServer, type IncomingMessage, type Server } from 'node:http';
import {
  challengeText,
  type DepotEntry,
  type ErrorCode,
  encodeBase64url,
  type FollowUpRequest,
  formatChallengeWord,
  HEADERS,
  issueTicket,
  type LegsQuestion,
  type LinkTest,
  legsText,
  noticeText,
  type OriginProbe,
  type PlanNotice,
  type RegisterRequest,
  type RequestStamp,
  type Standing,
  type TicketClaims,
  type ToldEntryGroup,
  type TrialAnswer,
  type WayNotice,
  wayText,
} from '@longhaul/shared';
import { generateKeyPair, isEnrolled, type KeyPair, proveAnswer, readClaims } from '@longhaul/shared/service';
import { listen } from '../sockets/listener.ts';

/**
 * A master's half of the protocol between depot and master, for the tests of depots: it believes whoever has
 * its secret.
 */
export interface TestMaster {
  readonly url: string;
  readonly secret: string;
  readonly depots: Map<string, DepotEntry>;
  /** What depots are told of themselves. */
  standing: Standing;
  /** How often they are told to be heard; left out, as by a master that does not say. */
  heartbeatSeconds: number | undefined;
  /** The entry group that all of them are in. */
  entryGroup: ToldEntryGroup | undefined;
  /**
   * The test of a link that the next heartbeat of `to` is answered with: others tell of tests of their own
   * meanwhile.
   */
  linkTest: { readonly to: string; readonly test: LinkTest } | undefined;
  /** The origin that the next heartbeat has probed. */
  originProbe: OriginProbe | undefined;
  /** All requests with their bodies, and their stamps where these were readable. */
  readonly requests: {
    readonly path: string;
    readonly body: unknown;
    readonly stamp: RequestStamp | undefined;
  }[];
  readonly issue: (claims: TicketClaims) => string;
  /** A notice for a depot that it will need a connection to `next`. */
  readonly notice: (depot: string, next: string, timeMs: number) => PlanNotice;
  /** A notice for a depot that a client is about to come with a ticket. */
  readonly wayNotice: (depot: string, notice: Omit<WayNotice, 'keyId' | 'signature'>) => WayNotice;
  /** A question to a depot for the legs of a job. */
  readonly legsQuestion: (depot: string, jobId: string, timeMs: number) => LegsQuestion;
  /** What a master says beside a challenge to a depot. */
  readonly challengeWord: (depot: string, challenge: string, timeMs: number) => string;
  /** Replaces the signing key; depots learn of it with their next exchange. */
  readonly rotateKey: () => void;
  /** Waited for before a request is answered, when it is in `requests` already. */
  beforeAnswer: (path: string) => Promise<void>;
  /** What the trial of a registration is answered with. */
  onTrial: () => TrialAnswer;
  /** What heartbeats are answered with in place of the directory. */
  onHeartbeat: () => TestAnswer | undefined;
  /** What the next follow-up requests are answered with. */
  onFollowUp: (body: FollowUpRequest) => TestAnswer;
  /** Ends all connections without a word. */
  readonly breakConnections: () => void;
  readonly close: () => Promise<void>;
}

interface TestAnswer {
  readonly status: number;
  readonly body: object;
  /** Of a refusal. */
  readonly code?: ErrorCode;
}

/** Starts one, at a port of its own where none is given. */
export async function startTestMaster(ownPort = 0): Promise<TestMaster> {
  const secret = 'test-secret';
  const depots = new Map<string, DepotEntry>();
  const requests: TestMaster['requests'] = [];
  let key = newKey(1);

  const directory = () => ({
    self: master.standing,
    ...(master.heartbeatSeconds === undefined ? {} : { heartbeatSeconds: master.heartbeatSeconds }),
    ...(master.entryGroup ? { entryGroup: master.entryGroup } : {}),
    depots: [...depots.values()],
    masterKeys: [{ keyId: key.id, publicKey: key.pair.publicKey }],
    masterUrls: [master.url],
  });
  const answer = (path: string, body: unknown): TestAnswer => {
    if (path === '/v1/depots') {
      const { id, host, port, tls, publicKey } = body as RegisterRequest;
      depots.set(id, { id, host, port, tls, publicKey, addresses: [host], state: 'up' });
      return { status: 200, body: directory() };
    }
    if (path === '/v1/depots/trial') return { status: 200, body: master.onTrial() };
    if (path.endsWith('/heartbeat')) {
      const { originProbe } = master;
      const isForIt = path === `/v1/depots/${master.linkTest?.to}/heartbeat`;
      const test = isForIt ? master.linkTest?.test : undefined;
      if (isForIt) master.linkTest = undefined;
      master.originProbe = undefined;
      const orders = {
        ...(test ? { test } : {}),
        ...(originProbe ? { probe: originProbe } : {}),
      };
      return master.onHeartbeat() ?? { status: 200, body: { ...directory(), ...orders } };
    }
    if (path.endsWith('/follow-ups')) return master.onFollowUp(body as FollowUpRequest);
    return { status: 200, body: directory() };
  };

  const server = createServer((request, response) => {
    void (async () => {
      const path = request.url ?? '';
      if (request.method === 'GET') {
        response.end('ok\n');
        return;
      }
      const sent = await readText(request);
      const body: unknown = JSON.parse(sent);
      const { stamp, signature = '', enrolment } = readClaims(request);
      requests.push({ path, body, stamp });
      await master.beforeAnswer(path);
      const isStranger =
        REGISTRATIONS.has(path) &&
        !(stamp && isEnrolled({ method: 'POST', path, stamp, body: sent }, enrolment, secret));
      const { status, body: answerBody, code } = isStranger ? STRANGER : answer(path, body);
      const text = JSON.stringify(answerBody);
      const error = code === undefined ? {} : { [HEADERS.error]: code };
      response
        .writeHead(status, { [HEADERS.signature]: proveAnswer(secret, signature, text), ...error })
        .end(text);
    })();
  });
  const { port } = await listen(server, '127.0.0.1', ownPort);

  const master: TestMaster = {
    url: `http://127.0.0.1:${port}`,
    secret,
    depots,
    requests,
    issue: (claims) => issueTicket(claims, key.id, key.pair.sign),
    notice: (depot, next, timeMs) => {
      const signature = encodeBase64url(key.pair.sign(noticeText(depot, { next, timeMs })));
      return { next, timeMs, keyId: key.id, signature };
    },
    wayNotice: (depot, notice) => {
      const signature = encodeBase64url(key.pair.sign(wayText(depot, notice)));
      return { ...notice, keyId: key.id, signature };
    },
    legsQuestion: (depot, jobId, timeMs) => {
      const signature = encodeBase64url(key.pair.sign(legsText(depot, { jobId, timeMs })));
      return { jobId, timeMs, keyId: key.id, signature };
    },
    challengeWord: (depot, challenge, timeMs) => {
      const signature = encodeBase64url(key.pair.sign(challengeText(depot, challenge, timeMs)));
      return formatChallengeWord({ timeMs, keyId: key.id, signature });
    },
    rotateKey: () => {
      key = newKey(Number(key.id.slice(1)) + 1);
    },
    standing: { state: 'up' },
    heartbeatSeconds: undefined,
    entryGroup: undefined,
    linkTest: undefined,
    originProbe: undefined,
    beforeAnswer: async () => {},
    onTrial: () => ({}),
    onHeartbeat: () => undefined,
    onFollowUp: () => ({ status: 403, body: {} }),
    breakConnections: () => server.closeAllConnections(),
    close: () => closeServer(server),
  };
  return master;
}

const REGISTRATIONS: ReadonlySet<string> = new Set(['/v1/depots', '/v1/depots/trial']);
const STRANGER: TestAnswer = { status: 403, body: {}, code: 'enrolment-refused' };

function newKey(serial: number): { readonly id: string; readonly pair: KeyPair } {
  return { id: `m${serial}`, pair: generateKeyPair() };
}

export function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
