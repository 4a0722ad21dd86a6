import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  CLOCK_SKEW_SECONDS,
  HEADERS,
  LonghaulError,
  ok,
  type RequestStamp,
  type Result,
  refuse,
} from '@longhaul/shared';
import {
  type FailedChecks,
  isEnrolled,
  isSignedBy,
  overlayKeyOf,
  proveAnswer,
  type RequestClaims,
  readClaims,
  type StampedRequest,
  signAnswer,
} from '@longhaul/shared/service';
import { readBody, unwrap } from '../http/read-body.ts';

const CLOCK_DETAIL = "time or sequence are missing, or the time is too far off the master's clock";

/** A request as it came: what it is, and what it says of itself. */
export interface DepotRequest extends Omit<StampedRequest, 'stamp'> {
  readonly claims: RequestClaims;
}

/** A request with its connection, and where that comes from. */
export interface ReceivedRequest extends DepotRequest {
  readonly body: Buffer;
  readonly connection: Socket;
  readonly from: string;
}

/** What anybody may send before it is known who that is: keys, names, tokens and an address. */
const MOST_STRANGERS_BYTES = 16_384;

/**
 * Reads a request whose signature is over `path` and the bytes of its body. For Express handlers: throws
 * `bad-request`.
 */
export async function readRequest(
  request: IncomingMessage,
  path: string,
  mostBytes = MOST_STRANGERS_BYTES,
): Promise<ReceivedRequest> {
  const body = unwrap(await readBody(request, mostBytes));
  const { socket } = request;
  return {
    method: 'POST',
    path,
    body,
    claims: readClaims(request),
    connection: socket,
    from: socket.remoteAddress ?? '',
  };
}

/**
 * Answers so that the asker knows a master of the overlay: by the secret's MAC, or signed with the overlay's
 * key for who asks for that.
 */
export type AnswerRequest = (response: ServerResponse, request: DepotRequest, value: object) => void;

export function answersBy(enrolmentSecret: string): AnswerRequest {
  const overlayKey = overlayKeyOf(enrolmentSecret);
  return (response, { claims: { signature = '', wantsOverlayKey } }, value) => {
    const body = Buffer.from(JSON.stringify(value));
    const proof = wantsOverlayKey
      ? signAnswer(overlayKey, signature, body)
      : proveAnswer(enrolmentSecret, signature, body);
    response.setHeader(HEADERS.signature, proof);
    response.setHeader('Cache-Control', 'no-store');
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  };
}

/** Checks that a registration is fresh and made with the enrolment secret; `enrolment-refused` when not. */
export function checkEnrolment(request: DepotRequest, secret: string, nowMs: number): Result<RequestStamp> {
  const { stamp, enrolment } = request.claims;
  if (!stamp || !isFresh(stamp, nowMs)) return refuse('enrolment-refused', CLOCK_DETAIL);
  return isEnrolled({ ...request, stamp }, enrolment, secret) ? ok(stamp) : refuse('enrolment-refused');
}

/** Said, as the master's own fault, to whom no signature is checked: it leads a depot's client direct. */
const SPENT = 'too many signatures from that address or network were wrong';

interface BoundedChecksInit {
  readonly failed: FailedChecks;
  /** Whether depots come from an address. */
  readonly isDepots: (address: string) => boolean;
}

/**
 * Checks signatures, for an address and its network as long as not too many from there were wrong. Strangers
 * may be behind the same address as a depot, and all are where a proxy ends connections: so a connection over
 * which the last one was right is heard all the same, and from where depots come each new one once.
 */
export class BoundedChecks {
  readonly #init: BoundedChecksInit;
  readonly #proved = new WeakSet<Socket>();
  readonly #vain = new WeakSet<Socket>();

  constructor(init: BoundedChecksInit) {
    this.#init = init;
  }

  /** Reads a request that will be checked; throws `master-busy`, its body unread, where none is. */
  async read(request: IncomingMessage, path: string, mostBytes?: number): Promise<ReceivedRequest> {
    if (!this.#hasRoomFor(request.socket)) throw new LonghaulError('master-busy', { detail: SPENT });
    return readRequest(request, path, mostBytes);
  }

  /** Checks that a request is fresh and signed by this key; `depot-signature-wrong` when not. */
  check(request: ReceivedRequest, publicKey: string, nowMs: number): Result<RequestStamp> {
    const { connection, claims } = request;
    const { stamp, signature } = claims;
    if (!stamp || !isFresh(stamp, nowMs)) return refuse('depot-signature-wrong', CLOCK_DETAIL);
    // Several may have been read while there was room.
    if (!this.#hasRoomFor(connection)) return refuse('master-busy', SPENT);
    if (!isSignedBy({ ...request, stamp }, signature, publicKey)) {
      this.noteVain(connection);
      return refuse('depot-signature-wrong');
    }
    this.#proved.add(connection);
    return ok(stamp);
  }

  /**
   * Checks that a request is signed by a join token's key, too; `join-token-unknown` when not, as for a token
   * that nobody knows.
   */
  checkToken(request: ReceivedRequest, tokenKey: string | undefined): Result<void> {
    const { connection, claims } = request;
    const { stamp, enrolment } = claims;
    if (!stamp || tokenKey === undefined) return refuse('join-token-unknown');
    if (!this.#hasRoomFor(connection)) return refuse('master-busy', SPENT);
    if (isSignedBy({ ...request, stamp }, enrolment, tokenKey)) return ok(undefined);
    this.noteVain(connection);
    return refuse('join-token-unknown');
  }

  /** Who has the enrolment secret is no stranger. */
  believe(connection: Socket): void {
    this.#proved.add(connection);
  }

  /** A signature was checked that is worth nothing: it is wrong, or has come before. */
  noteVain(connection: Socket): void {
    this.#proved.delete(connection);
    this.#vain.add(connection);
    this.#init.failed.note(connection.remoteAddress ?? '');
  }

  #hasRoomFor(connection: Socket): boolean {
    const { failed, isDepots } = this.#init;
    const from = connection.remoteAddress ?? '';
    if (this.#proved.has(connection) || failed.hasRoomFor(from)) return true;
    return !this.#vain.has(connection) && isDepots(from);
  }
}

function isFresh({ timeMs }: RequestStamp, nowMs: number): boolean {
  return Math.abs(nowMs - timeMs) <= CLOCK_SKEW_SECONDS * 1000;
}
