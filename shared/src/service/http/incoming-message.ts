import type { IncomingMessage } from 'node:http';
import { isAddressLiteral, isInNetworks } from '../../address-policy.ts';
import { LonghaulError } from '../../errors.ts';
import { parseAuthority } from '../../origin-url.ts';

/** Who comes through a reverse proxy has the proxy's address, often loopback: these headers tell that there is one. */
const PROXY_HEADERS = ['x-forwarded-for', 'forwarded'];
/** Where a reverse proxy on the same machine comes from. */
const LOOPBACK_NETWORKS = ['127.0.0.0/8', '::1/128'];

/** The value of a header by its lower-case name; the first one where it was sent more than once. */
export function headerOf(message: IncomingMessage, name: string): string | undefined {
  const value = message.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Whether a request has a body that has not come whole: what is left of it must not be taken for the next request. */
export function hasUnreadBody({ headers, complete }: IncomingMessage): boolean {
  const isStated = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return isStated && !complete;
}

/** Who may read what is for operators. */
export interface OperatorAccess {
  /** CIDR: where they are. */
  readonly networks: readonly string[];
  /** Names by which they alone ask for this service, in canonical form. */
  readonly hosts: readonly string[];
  /**
   * Names by which anybody may ask for it: on this machine itself a reverse proxy says them, too, and need
   * not say that it is one.
   */
  readonly publicHosts: readonly string[];
}

/** Whether a request comes straight from an operator, through no reverse proxy, and for no page of somebody else. */
export function isOperators(request: IncomingMessage, access: OperatorAccess): boolean {
  return operatorRefusal(request, access) === undefined;
}

/**
 * Why a request may not read what is for operators; `undefined` where it may. Who is none is not told that it
 * is there.
 */
export function operatorRefusal(
  request: IncomingMessage,
  { networks, hosts, publicHosts }: OperatorAccess,
): LonghaulError | undefined {
  const isThroughProxy = PROXY_HEADERS.some((name) => request.headers[name] !== undefined);
  const peer = request.socket.remoteAddress ?? '';
  if (isThroughProxy || !isInNetworks(peer, networks)) return new LonghaulError('not-found');
  if (isAskedForAs(request, hosts)) return undefined;
  if (!isAskedForAs(request, publicHosts)) return new LonghaulError('name-not-listed');
  // The advice to list a public name would open the pages to whoever comes through the proxy.
  return isInNetworks(peer, LOOPBACK_NETWORKS) ? new LonghaulError('not-found') : undefined;
}

/** Throws `operatorRefusal`, where there is one. */
export function requireOperator(request: IncomingMessage, access: OperatorAccess): void {
  const refusal = operatorRefusal(request, access);
  if (refusal) throw refusal;
}

/**
 * Whether a service is asked for by a name that is its own. A page whose name comes to lead here (DNS
 * rebinding) could read, in an operator's browser, what only he may; his browser says that name. Addresses
 * are no page's name, and those without a dot are nobody's on the internet.
 */
function isAskedForAs({ headers: { host: said } }: IncomingMessage, hosts: readonly string[]): boolean {
  // Every browser says one.
  if (said === undefined) return true;
  const asked = parseAuthority(said, 0);
  if (!asked.ok) return false;
  const { host } = asked.value;
  return isAddressLiteral(host) || !host.includes('.') || hosts.includes(host);
}

/** The value of a JSON text; `undefined` where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
