import { isIPv6 } from 'node:net';
import { type ErrorCode, LonghaulError } from '../../errors.ts';

/** What the system says where a process, or the machine, has as many files and connections open as it may. */
const NO_DESCRIPTOR: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);
/** ... and where anything else is used up that each connection takes. */
const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOBUFS', 'ENOMEM', 'EAGAIN']);
/** ... and where this machine has no way out by a family, or may not use it. */
const NO_WAY_OUT: ReadonlySet<unknown> = new Set([
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EACCES',
  'EPERM',
]);
/**
 * What Node's resolver says where it could ask no name server at all; of a lack of descriptors or of a route
 * to them it says nothing else.
 */
const NO_NAME_SERVER: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'EFILE', 'ENOMEM']);

/** What Node tells of a failed call of the system or of its resolver. */
interface SystemFailure extends Error {
  readonly code: unknown;
  readonly syscall?: unknown;
  readonly address?: unknown;
}

/** Whether a name could not be looked up because no name server could be asked. */
export function isUnasked(failure: unknown): boolean {
  const { code, syscall } = systemFailure(failure) ?? {};
  return String(syscall).startsWith('query') && NO_NAME_SERVER.has(code);
}

/** Whether something failed, or was caused by what did, because no further descriptor could be had. */
export function isOutOfDescriptors(failure: unknown): boolean {
  return NO_DESCRIPTOR.has(systemFailure(failure)?.code);
}

/**
 * Whether a connection failed for what would have kept this process from any other one at that moment, too:
 * for want of descriptors, ports, memory or name servers.
 */
export function couldReachNobody(failure: unknown): boolean {
  const found = systemFailure(failure);
  if (!found) return false;
  const { code, address } = found;
  if (NO_DESCRIPTOR.has(code) || NO_ROOM.has(code) || isUnasked(failure)) return true;
  // By IPv4 all ports towards the address are in use; by IPv6 the same is said where there is no own address.
  return code === 'EADDRNOTAVAIL' && !isIPv6(String(address));
}

/** Whether a connection failed for want of something on this side, which says nothing of the other one. */
export function isOwnFault(failure: unknown): boolean {
  return couldReachNobody(failure) || NO_WAY_OUT.has(systemFailure(failure)?.code);
}

/** What an own fault is called. */
export function ownFaultCode(failure: unknown): ErrorCode {
  return isOutOfDescriptors(failure) ? 'descriptors-out' : 'no-way-out';
}

/**
 * Of the failures at all addresses of one host, the one to judge it by: one address that could not be tried
 * leaves all open; a family that this machine lacks says less than what came of the other one.
 */
export function tellingFailure<Failure>(failures: readonly Failure[]): Failure | undefined {
  return failures.find(couldReachNobody) ?? failures.find((one) => !isOwnFault(one)) ?? failures[0];
}

/** What the system has said first of all. */
function systemFailure(failure: unknown): SystemFailure | undefined {
  let found = failure;
  while (found instanceof LonghaulError) found = found.cause;
  return found instanceof Error && 'code' in found ? found : undefined;
}
