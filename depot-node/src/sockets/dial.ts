import { isIP, type Socket } from 'node:net';
import {
  type AddressPolicy,
  type ErrorCode,
  isExcepted,
  LonghaulError,
  refuseAddress,
  refuseOverlayAddress,
} from '@longhaul/shared';
import { isOutOfDescriptors, tellingFailure } from '@longhaul/shared/service';
import type { DownloadAsker } from '../names/look-up-room.ts';
import type { Resolve } from '../names/resolver.ts';
import { LinkedAbort } from '../racing/linked-abort.ts';
import { tryInTurn } from '../racing/try-in-turn.ts';
import { DEFAULT_LEG_TABLE, type LegClass } from './leg-options.ts';
import type { LegSockets } from './leg-sockets.ts';
import { createNodeLegSockets } from './node-leg-sockets.ts';

/** Whom a connection is for: origins and depots are guarded, each by a rule of its own; the master is configured. */
export type DialPurpose = 'origin' | 'depot' | 'master';

export interface DialTarget {
  readonly purpose: DialPurpose;
  readonly host: string;
  readonly port: number;
  /** Whom an origin is dialled for: its name takes room that is his. */
  readonly forWhom?: DownloadAsker;
  /** The only addresses of the host that count, where they are known; left out, it is resolved. */
  readonly addresses?: readonly string[];
}

export interface Dialled {
  readonly socket: Socket;
  /** Duration of the TCP handshake: one round trip. */
  readonly rttMs: number;
}

/** There is no address for the name: what DNS says is its cause. */
export class NoAddress extends LonghaulError {}

/** The only way to open a connection. Rejects with a `LonghaulError` that fits the purpose. */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Dialled>;

interface DialComponents {
  readonly resolve: Resolve;
  readonly policy: AddressPolicy;
  /** Whether an address and port belong to the overlay itself, where a download would run in circles. */
  readonly isOverlayAddress: (address: string, port: number) => boolean;
  /** Whether an address is this machine's: its services may grant more to those who come from itself. */
  readonly isOwnAddress?: (address: string) => boolean;
  readonly connectTimeoutMs: number;
  /** Called where no descriptor was left for a connection. */
  readonly onOutOfDescriptors?: () => void;
  /** Makes the sockets; without it they are Node's own. */
  readonly sockets?: LegSockets;
}

/** An address that does not stand by then is tried on beside the next one (RFC 8305, section 8). */
const CONNECTION_ATTEMPT_DELAY_MS = 250;
/**
 * The only address of a name is asked a second time then: longer than nearly all round trips on earth, and
 * long before the second after which TCP sends a lost SYN again (RFC 6298, section 2).
 */
const LOST_SYN_MS = 400;
/** Addresses of one name that are tried: whoever names it decides how many there are. */
const MAX_DIALLED_ADDRESSES = 8;

const FAILURES: Readonly<Record<DialPurpose, Record<'unresolvable' | 'unreachable' | 'timeout', ErrorCode>>> =
  {
    origin: {
      unresolvable: 'origin-unresolvable',
      unreachable: 'origin-unreachable',
      timeout: 'origin-timeout',
    },
    depot: {
      unresolvable: 'next-depot-unreachable',
      unreachable: 'next-depot-unreachable',
      timeout: 'next-depot-timeout',
    },
    master: {
      unresolvable: 'master-unreachable',
      unreachable: 'master-unreachable',
      timeout: 'master-unreachable',
    },
  };

/** Those of whom no network is known have one share together. */
const NOBODY_KNOWN: DownloadAsker = { client: 'unknown' };

/** A master is somebody else's server that is sent requests only, as an origin is. */
const LEG_CLASSES: Readonly<Record<DialPurpose, LegClass>> = {
  origin: 'origin',
  depot: 'depot',
  master: 'origin',
};

/**
 * Makes the dial function. An origin's and a depot's addresses are checked after resolution, one by one, and
 * the address really connected once more, so that neither literals nor a name that changes its mind get past
 * the guard. Several addresses race (RFC 8305): both families in turn, the next one beside one that does not
 * stand at once, under one deadline. So does a second attempt where there is one address only: its SYN may
 * have been lost.
 */
export function createDial(components: DialComponents): Dial {
  const { resolve, policy, isOverlayAddress, isOwnAddress = () => false, connectTimeoutMs } = components;
  const sockets = components.sockets ?? createNodeLegSockets(DEFAULT_LEG_TABLE);

  const refusalOf = ({ purpose, port }: DialTarget, address: string): ErrorCode | undefined => {
    if (purpose === 'depot') return refuseOverlayAddress(address, port, policy);
    if (purpose !== 'origin') return undefined;
    if (isOverlayAddress(address, port) || refuseAddress(address, port, policy)) return 'address-not-allowed';
    // From elsewhere it can be reached, be it by another depot or the client.
    return isOwnAddress(address) && !isExcepted(address, port, policy) ? 'origin-unreachable' : undefined;
  };

  const connectTo = async (target: DialTarget, address: string, signal: AbortSignal): Promise<Dialled> => {
    const legClass = LEG_CLASSES[target.purpose];
    const started = performance.now();
    const socket = await establish(() => sockets.connect(legClass, address, target.port), signal);
    // A busy event loop hears of its connections late; the kernel does not.
    const rttMs = sockets.rttMsOf(socket) ?? performance.now() - started;
    const refusal = refusalOf(target, socket.remoteAddress ?? '');
    if (!refusal) return { socket, rttMs };
    socket.destroy();
    throw new LonghaulError(refusal, { detail: target.host });
  };

  const dialBy = async (target: DialTarget, signal: AbortSignal, deadline: AbortSignal): Promise<Dialled> => {
    const failures = FAILURES[target.purpose];
    const forWhom = target.purpose === 'origin' ? (target.forWhom ?? NOBODY_KNOWN) : 'overlay';
    const found = target.addresses
      ? Promise.resolve(target.addresses)
      : resolve(target.host, { signal: deadline, forWhom });
    const addresses = await found.catch((cause: unknown) => {
      signal.throwIfAborted();
      const isBusy = cause instanceof LonghaulError && cause.code === 'resolver-busy';
      if (isBusy) throw new LonghaulError(cause.code, { detail: target.host, cause });
      throw new NoAddress(failures.unresolvable, { detail: target.host, cause });
    });
    const permitted = addresses.filter((address) => refusalOf(target, address) === undefined);
    const [first] = addresses;
    if (first === undefined) throw new NoAddress(failures.unresolvable, { detail: target.host });
    const refusal = permitted.length === 0 ? refusalOf(target, first) : undefined;
    if (refusal) throw new LonghaulError(refusal, { detail: target.host });

    const attempts: Promise<Dialled>[] = [];
    const tried = interleaveFamilies(permitted).slice(0, MAX_DIALLED_ADDRESSES);
    const isOnly = tried.length === 1;
    const dialled = await tryInTurn(isOnly ? [...tried, ...tried] : tried, {
      attempt: (address, own) => {
        const attempt = connectTo(target, address, own);
        attempts.push(attempt);
        return attempt;
      },
      patienceMs: isOnly ? LOST_SYN_MS : CONNECTION_ATTEMPT_DELAY_MS,
      signal: deadline,
      // What it has answered once it would answer again.
      isFinal: () => isOnly,
      discard: ({ socket }) => socket.destroy(),
    }).catch(async () => {
      signal.throwIfAborted();
      const failure = failureOf(target, await Promise.allSettled(attempts), deadline.aborted);
      if (isOutOfDescriptors(failure)) components.onOutOfDescriptors?.();
      throw failure;
    });
    sockets.noteConnected(LEG_CLASSES[target.purpose], dialled.socket);
    return dialled;
  };

  return async (target, signal) => {
    // Not `AbortSignal.timeout`, whose time would be up for each dial that has long succeeded.
    const deadline = new LinkedAbort(signal);
    const timer = setTimeout(() => deadline.abort(TIME_IS_UP), connectTimeoutMs);
    return dialBy(target, signal, deadline.signal).finally(() => {
      clearTimeout(timer);
      deadline.leave();
    });
  };
}

/** Told to attempts that have not succeeded in time. */
const TIME_IS_UP = new Error('no connection in time');

/**
 * What is told of a target none of whose addresses could be reached: the guard's refusal only where nothing
 * else was met.
 */
function failureOf(
  { purpose, host }: DialTarget,
  attempts: readonly PromiseSettledResult<unknown>[],
  isLate: boolean,
): LonghaulError {
  const failures = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
  const met = failures.filter((failure) => !(failure instanceof LonghaulError));
  const cause: unknown = tellingFailure(met.toReversed());
  if (cause === undefined) return new LonghaulError('address-not-allowed', { detail: host });
  const { timeout, unreachable } = FAILURES[purpose];
  const code = isLate || isTimeout(cause) ? timeout : unreachable;
  return new LonghaulError(code, { detail: host, cause });
}

/** Addresses in the order given, but from one family and the other in turn (RFC 8305, section 4). */
function interleaveFamilies(addresses: readonly string[]): string[] {
  const first = addresses.filter((address) => isIP(address) === isIP(addresses[0] ?? ''));
  const second = addresses.filter((address) => !first.includes(address));
  return Array.from({ length: Math.max(first.length, second.length) }, (_, index) => [
    first[index],
    second[index],
  ])
    .flat()
    .filter((address) => address !== undefined);
}

function isTimeout(failure: unknown): boolean {
  return failure instanceof Error && 'code' in failure && failure.code === 'ETIMEDOUT';
}

/** A connection that stands. Whatever prevents that leaves no descriptor behind. */
function establish(begin: () => Socket, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = begin();
    const settle = () => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError);
    };
    const onAbort = () => {
      settle();
      socket.destroy();
      reject(signal.reason);
    };
    const onError = (error: Error) => {
      settle();
      reject(error);
    };
    signal.addEventListener('abort', onAbort);
    socket.once('error', onError);
    socket.once('connect', () => {
      settle();
      resolve(socket);
    });
  });
}
