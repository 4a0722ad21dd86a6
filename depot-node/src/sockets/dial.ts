import type { Socket } from 'node:net';
import {
  type AddressPolicy,
  type ErrorCode,
  LonghaulError,
  refuseAddress,
  refuseOverlayAddress,
} from '@longhaul/shared';
import { DEFAULT_LEG_TABLE, type LegClass } from './leg-options.ts';
import type { LegSockets } from './leg-sockets.ts';
import { createNodeLegSockets } from './node-leg-sockets.ts';
import type { Resolve } from './resolver.ts';

/** Whom a connection is for: origins and depots are guarded, each by a rule of its own; the master is configured. */
export type DialPurpose = 'origin' | 'depot' | 'master';

export interface DialTarget {
  readonly purpose: DialPurpose;
  readonly host: string;
  readonly port: number;
  /** The only addresses of the host that count, where they are known; left out, it is resolved. */
  readonly addresses?: readonly string[];
}

export interface Dialled {
  readonly socket: Socket;
  /** Duration of the TCP handshake: one round trip. */
  readonly rttMs: number;
}

/** The only way to open a connection. Rejects with a `LonghaulError` that fits the purpose. */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Dialled>;

interface DialComponents {
  readonly resolve: Resolve;
  readonly policy: AddressPolicy;
  /** Whether an address and port belong to the overlay itself, where a download would run in circles. */
  readonly isOverlayAddress: (address: string, port: number) => boolean;
  readonly connectTimeoutMs: number;
  /** Makes the sockets; without it they are Node's own. */
  readonly sockets?: LegSockets;
}

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

/** A master is somebody else's server that is sent requests only, as an origin is. */
const LEG_CLASSES: Readonly<Record<DialPurpose, LegClass>> = {
  origin: 'origin',
  depot: 'depot',
  master: 'origin',
};

/**
 * Makes the dial function. An origin's and a depot's addresses are checked after resolution, one by one, and the address really
 * connected once more, so that neither literals nor a name that changes its mind get past the guard.
 */
export function createDial(components: DialComponents): Dial {
  const { resolve, policy, isOverlayAddress, connectTimeoutMs } = components;
  const sockets = components.sockets ?? createNodeLegSockets(DEFAULT_LEG_TABLE);

  const refusalOf = ({ purpose, port }: DialTarget, address: string): ErrorCode | undefined => {
    if (purpose === 'depot') return refuseOverlayAddress(address, port, policy);
    const isForbidden =
      purpose === 'origin' &&
      (isOverlayAddress(address, port) || refuseAddress(address, port, policy) !== undefined);
    return isForbidden ? 'address-not-allowed' : undefined;
  };

  return async (target, signal) => {
    const failures = FAILURES[target.purpose];
    const legClass = LEG_CLASSES[target.purpose];
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)]);
    const found = target.addresses ? Promise.resolve(target.addresses) : resolve(target.host);
    const addresses = await before(deadline, found).catch((cause) => {
      signal.throwIfAborted();
      throw new LonghaulError(failures.unresolvable, { detail: target.host, cause });
    });
    const permitted = addresses.filter((address) => refusalOf(target, address) === undefined);
    const [first] = addresses;
    if (first === undefined) throw new LonghaulError(failures.unresolvable, { detail: target.host });
    const refusal = permitted.length === 0 ? refusalOf(target, first) : undefined;
    if (refusal) throw new LonghaulError(refusal, { detail: target.host });

    let lastFailure: unknown;
    for (const address of permitted) {
      const started = performance.now();
      try {
        const socket = await establish(() => sockets.connect(legClass, address, target.port), deadline);
        const refusal = refusalOf(target, socket.remoteAddress ?? '');
        if (refusal) {
          socket.destroy();
          throw new LonghaulError(refusal, { detail: target.host });
        }
        const rttMs = performance.now() - started;
        sockets.noteConnected(legClass, socket);
        return { socket, rttMs };
      } catch (failure) {
        if (failure instanceof LonghaulError) throw failure;
        lastFailure = failure;
        if (deadline.aborted) break;
      }
    }
    signal.throwIfAborted();
    const code = deadline.aborted || isTimeout(lastFailure) ? failures.timeout : failures.unreachable;
    throw new LonghaulError(code, { detail: target.host, cause: lastFailure });
  };
}

/** The promise's value, unless the signal aborts first. */
function before<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
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
