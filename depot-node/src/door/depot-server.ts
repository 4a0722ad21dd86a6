import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  HEADERS,
  isChallengeTarget,
  isLegsTarget,
  isLinkTestTarget,
  isNoticeTarget,
  isWayTarget,
  LonghaulError,
  originForm,
  type Result,
} from '@longhaul/shared';
import {
  allowHalfClose,
  answerBrokenRequest,
  type ConnectionLimiter,
  hasUnreadBody,
  isOperators,
  type OperatorAccess,
  operatorRefusal,
  Turns,
} from '@longhaul/shared/service';
import type { Registry } from 'prom-client';
import type { MembershipState } from '../directory/membership.ts';
import type { Observe } from '../plane/events.ts';
import type { LegOptions } from '../sockets/leg-options.ts';
import { createListener } from '../sockets/listener.ts';
import type { ListenerCertificate } from '../sockets/listener-certificate.ts';
import { resetConnection } from '../sockets/reset.ts';
import { Beginnings } from './beginnings.ts';
import { SAFETY_HEADERS } from './client-headers.ts';
import { refusalEvent, sendRefusal } from './refusal.ts';
import { limitUnread } from './unread-answer.ts';

interface DepotServerComponents {
  readonly observe: Observe;
  readonly limiter: ConnectionLimiter;
  readonly ownId: string;
  readonly certificate: ListenerCertificate | undefined;
  /** Options of accepted connections. */
  readonly sockets: LegOptions;
  readonly handleRelay: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly handleConnect: (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;
  /** How this depot stands with its master. */
  readonly membership: () => MembershipState;
  /** Proves where this depot is. */
  readonly answerChallenge: (
    target: string,
    clientAddress: string,
    word: string | undefined,
  ) => Result<object>;
  /** Takes a master's notice of a plan. */
  readonly takeNotice: (target: string, clientAddress: string) => Result<void>;
  /** Takes a master's notice that a client is about to come. */
  readonly prepareWay: (target: string, clientAddress: string) => Promise<Result<void>>;
  /** Tells a master what the connections of a job do now. */
  readonly answerLegs: (target: string, clientAddress: string) => Result<object>;
  /** Takes down how far a client is that greets. */
  readonly noteGreeting: (socket: Duplex) => void;
  /** Sends bytes to another depot, to test the link. */
  readonly serveLinkTest: (request: IncomingMessage, response: ServerResponse) => Promise<Result<void>>;
  readonly metrics: Registry;
  readonly operators: OperatorAccess;
  /** Whether the depot takes nothing new. */
  readonly isClosing: () => boolean;
  /** How long an answer that is no download may be left unread; left out, half a minute. */
  readonly unreadTimeoutMs: number | undefined;
  /** How long a client of a download may rest. */
  readonly stallMs: number;
}

type Answer = (request: IncomingMessage, response: ServerResponse, target: string) => Promise<void> | void;

const is = (path: string) => (target: string) => target === path;
const addressOf = ({ socket }: IncomingMessage) => socket.remoteAddress ?? '';

/** The depot's one listener, not yet bound: which request goes where, and what answers the ones that are none. */
export function createDepotServer(components: DepotServerComponents): Server {
  const { ownId, handleRelay, handleConnect, isClosing, limiter } = components;
  const turns = new Turns();
  const beginnings = new Beginnings();
  const beginInTurn = ({ socket }: IncomingMessage, serve: () => Promise<void>) =>
    beginnings.take(limiter.networkOf(socket.remoteAddress ?? ''), socket, serve);
  const count = (failure: LonghaulError) => components.observe(refusalEvent(failure, undefined, ownId));
  const refuse = (request: IncomingMessage, response: ServerResponse, failure: LonghaulError) => {
    count(failure);
    sendRefusal(request, response, failure, { ownId });
  };
  const acknowledge = (request: IncomingMessage, response: ServerResponse, taken: Result<void>) => {
    if (taken.ok) response.writeHead(204, SAFETY_HEADERS).end();
    else refuse(request, response, taken.error);
  };
  const tell = (request: IncomingMessage, response: ServerResponse, told: Result<object>) => {
    if (told.ok) sendJson(response, told.value);
    else refuse(request, response, told.error);
  };
  /** What is answered without a ticket, by its target; everything else is for the relay. */
  const answers: readonly (readonly [isTarget: (target: string) => boolean, answer: Answer])[] = [
    [
      is('/healthz'),
      (request, response) => {
        components.noteGreeting(request.socket);
        response.writeHead(200, { ...SAFETY_HEADERS, [HEADERS.depot]: ownId }).end('ok\n');
      },
    ],
    [is('/healthz/ready'), (request, response) => sendReadiness(components, request, response)],
    [is('/metrics'), (request, response) => sendMetrics(components, request, response)],
    [
      isChallengeTarget,
      (request, response, target) => {
        const word = request.headers[HEADERS.signature]?.toString();
        tell(request, response, components.answerChallenge(target, addressOf(request), word));
      },
    ],
    [
      isLegsTarget,
      (request, response, target) =>
        tell(request, response, components.answerLegs(target, addressOf(request))),
    ],
    [
      isNoticeTarget,
      (request, response, target) =>
        acknowledge(request, response, components.takeNotice(target, addressOf(request))),
    ],
    [
      isWayTarget,
      (request, response, target) =>
        components.prepareWay(target, addressOf(request)).then(
          (taken) => acknowledge(request, response, taken),
          () => resetConnection(request.socket),
        ),
    ],
    [
      isLinkTestTarget,
      (request, response) =>
        components.serveLinkTest(request, response).then(
          (taken) => (taken.ok ? undefined : refuse(request, response, taken.error)),
          () => resetConnection(request.socket),
        ),
    ],
  ];
  /** Connections whose last request is answered, and its body is still being read away. */
  const midBody = new WeakSet<Duplex>();
  /** Connections that have had a download: its end may still wait in the kernel for a client that rests. */
  const hadDownload = new WeakSet<Duplex>();
  const relay: Answer = async (request, response) => {
    const { socket } = request;
    await beginInTurn(request, () => handleRelay(request, response)).catch(() => resetConnection(socket));
    if (response.statusCode < 300) hadDownload.add(socket);
  };
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const target = originForm(request.url ?? '');
    request.url = target;
    // Browsers give up what is on disk after some refusals, and after no connection that ends.
    if (isClosing() && request.headers.range !== undefined) return resetConnection(request.socket);
    if (isClosing()) return refuse(request, response, new LonghaulError('shutting-down'));
    const [, answer = relay] = answers.find(([isTarget]) => isTarget(target)) ?? [];
    return answer(request, response, target);
  };
  const inTurn =
    (answer: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      const serveWhole = async () => {
        // Nothing here takes a body: one that stayed unread would end its request, and the answer, in half a minute.
        if (hasUnreadBody(request)) request.resume();
        await answer(request, response);
        if (hasUnreadBody(request)) {
          midBody.add(request.socket);
          request.once('end', () => midBody.delete(request.socket));
        }
        // A download has gone to the kernel by then, or its connection has.
        const { stallMs, unreadTimeoutMs } = components;
        limitUnread(request, response, hadDownload.has(request.socket) ? stallMs : unreadTimeoutMs);
      };
      // One read may bring many requests; those behind the one that was too many have nobody to answer.
      if (request.socket.destroyed || turns.take(request, response, serveWhole)) return;
      count(new LonghaulError('too-many-waiting'));
      resetConnection(request.socket);
    };
  const server = createListener(inTurn(serve), components.certificate, components.sockets);
  allowHalfClose(server);
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    limiter.noteRequest(request);
    // A tunnel cannot begin while an answer is still on its way over the same connection.
    if (turns.isBusy(socket)) resetConnection(socket);
    else void beginInTurn(request, () => handleConnect(request, socket, head));
  });
  // Node answers what expects more than to go on past the listener for requests.
  const refuseExpectation = (request: IncomingMessage, response: ServerResponse) =>
    refuse(request, response, new LonghaulError('bad-request'));
  server.on('checkExpectation', inTurn(refuseExpectation));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // The answer to it would become a part of the body that is on its way.
    if (turns.isBusy(socket)) {
      resetConnection(socket);
      return;
    }
    // It would be taken for the answer to the next request.
    if (midBody.has(socket)) {
      socket.destroy();
      return;
    }
    const code = answerBrokenRequest(error, socket, { [HEADERS.depot]: ownId });
    if (code === undefined) return;
    limiter.noteBroken(socket);
    count(new LonghaulError(code));
  });
  // Last, because it stands before all that listens to connections by then.
  limiter.guard(server);
  return server;
}

/**
 * For operators; a depot that is not ready serves the tickets it gets. Only they see the sentence, which may
 * name addresses.
 */
function sendReadiness(
  { membership, operators }: DepotServerComponents,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { isMember, problem } = membership();
  const sentence = problem && isOperators(request, operators) ? `: ${problem.message}` : '';
  const said = problem ? `${problem.code}${sentence}\n` : '';
  response.writeHead(isMember ? 200 : 503, {
    ...SAFETY_HEADERS,
    'Content-Type': 'text/plain; charset=utf-8',
  });
  response.end(`${isMember ? 'ready' : 'not ready'}\n${said}`);
}

function sendJson(response: ServerResponse, answer: object): void {
  response
    .writeHead(200, { ...SAFETY_HEADERS, 'Content-Type': 'application/json' })
    .end(JSON.stringify(answer));
}

async function sendMetrics(
  { ownId, metrics, operators }: DepotServerComponents,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refusal = operatorRefusal(request, operators);
  if (refusal) {
    sendRefusal(request, response, refusal, { ownId });
    return;
  }
  response.setHeader('Content-Type', metrics.contentType);
  response.end(await metrics.metrics());
}
