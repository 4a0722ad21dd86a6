/**
 * Which addresses downloads may come from, and where depots may be. The same rules guard the depots' dial
 * function, on the address really connected, and the master, on what is registered and asked for.
 */
import ipaddr from 'ipaddr.js';

/** An explicit exception to the rule, for laboratories and tests: a network with the ports it may be used on. */
export interface AllowedNetwork {
  /** CIDR, for example `127.0.0.0/8` or `fd00::/8`. */
  readonly network: string;
  readonly ports: readonly number[];
}

export interface AddressPolicy {
  /** Ports of public addresses. */
  readonly ports: readonly number[];
  readonly allow: readonly AllowedNetwork[];
  /** CIDR: networks that are not public, in which depots may be on any port; left out: none. */
  readonly overlayNetworks?: readonly string[];
}

export const ADDRESS_FAMILIES = ['IPv4', 'IPv6'] as const;
export type AddressFamily = (typeof ADDRESS_FAMILIES)[number];

export const DEFAULT_PORTS_ALLOWED: readonly number[] = [80, 443];

/**
 * Public addresses at which clouds answer their machines, and nobody else: what identifies a machine is
 * there. Azure's host (https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16).
 * Those of other clouds are link-local, unique local or shared (RFC 6598).
 */
const CLOUD_HOSTS = ['168.63.129.16/32'];

/** The first port of RFC 6335's user ports. Below it are services that must not be sent somebody else's requests. */
const FIRST_USER_PORT = 1024;

/**
 * Whether a connection to `address:port` is permitted: global unicast on an allowed port, or an explicit exception.
 * `undefined` means yes; otherwise the code that refuses it.
 */
export function refuseAddress(
  address: string,
  port: number,
  policy: AddressPolicy,
): 'target-not-public' | 'port-not-allowed' | undefined {
  if (!ipaddr.isValid(address)) return 'target-not-public';
  if (isExcepted(address, port, policy)) return undefined;
  if (!isGlobalUnicast(ipaddr.process(address))) return 'target-not-public';
  return policy.ports.includes(port) ? undefined : 'port-not-allowed';
}

/** Whether the policy names `address:port` as an exception of its rules. */
export function isExcepted(address: string, port: number, { allow }: AddressPolicy): boolean {
  return allow.some(({ network, ports }) => ports.includes(port) && isInNetworks(address, [network]));
}

/**
 * Whether a depot may be at `address:port`: global unicast on a user port or one that origins may have, or in a network
 * named for the overlay. `undefined` means yes; otherwise the code that refuses it.
 */
export function refuseOverlayAddress(
  address: string,
  port: number,
  policy: AddressPolicy,
): 'depot-address-not-allowed' | undefined {
  if (isInNetworks(address, policy.overlayNetworks ?? [])) return undefined;
  const isPublic = publicFamily(address) !== undefined;
  const isPermitted = isPublic && (port >= FIRST_USER_PORT || policy.ports.includes(port));
  return isPermitted ? undefined : 'depot-address-not-allowed';
}

/**
 * By which family an address is reached on the internet, an IPv4-mapped one by IPv4; `undefined` for what is
 * not public.
 */
export function publicFamily(address: string): AddressFamily | undefined {
  if (!ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  if (!isGlobalUnicast(parsed)) return undefined;
  return parsed.kind() === 'ipv4' ? 'IPv4' : 'IPv6';
}

/** Whether `host` is an address literal rather than a name. */
export function isAddressLiteral(host: string): boolean {
  return !isSurelyName(host) && ipaddr.isValid(host);
}

/** One spelling for each address: IPv4-mapped IPv6 as IPv4, IPv6 compressed, no zone. Other texts stay as they are. */
export function plainAddress(text: string): string {
  // Each connection is looked up by its address several times: what is plain goes past the parser.
  const plain = PLAIN_IPV4.exec(text);
  if (plain) return `${plain[1]}${plain[3]}`;
  if (isSurelyName(text)) return text;
  const address = text.split('%', 1)[0] ?? '';
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : text;
}

/** Whether a text has a letter that no address literal has, and no colon, behind which IPv6 has its zones. */
function isSurelyName(text: string): boolean {
  return /[g-wyz]/i.test(text) && !text.includes(':');
}

/** Whether `text` is a network in CIDR form. */
export function isNetwork(text: string): boolean {
  return ipaddr.isValidCIDR(text);
}

/** Whether `address` lies in one of `networks` (CIDR); an IPv4-mapped address counts as IPv4. */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return networks.some((network) => contains(network, parsed));
}

/** The network that a client is in, its neighbours with it: a /24, or a /48 of IPv6. */
export function clientPrefix(address: string): string {
  return networkOf(address, 3, 6);
}

/** One client: its IPv4 address, or the /64 of IPv6 that one line has. */
export function clientAddress(address: string): string {
  return networkOf(address, 4, 8);
}

/** An IPv4 address as sockets name it, also mapped into IPv6. */
const PLAIN_IPV4 =
  /^(?:::ffff:)?(((?:0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])\.){3})(0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$/;

function networkOf(address: string, keptOfIpv4: 3 | 4, keptOfIpv6: number): string {
  // Every request is counted for its client: what is plain goes past the parser.
  const plain = PLAIN_IPV4.exec(address);
  if (plain) return `${plain[1]}${keptOfIpv4 === 4 ? plain[3] : '0'}/${keptOfIpv4 * 8}`;
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  const bytes = parsed.toByteArray();
  const kept = parsed.kind() === 'ipv4' ? keptOfIpv4 : keptOfIpv6;
  const network = ipaddr.fromByteArray(bytes.map((byte, index) => (index < kept ? byte : 0)));
  return `${network.toString()}/${kept * 8}`;
}

function contains(network: string, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const [base, bits] = parsedNetwork(network);
  return base.kind() === address.kind() && address.match(base, bits);
}

/** Networks that are kept parsed: those of a configuration, which every connection is held against. */
const MOST_PARSED_NETWORKS = 1000;
const parsedNetworks = new Map<string, [ipaddr.IPv4 | ipaddr.IPv6, number]>();

function parsedNetwork(network: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const known = parsedNetworks.get(network);
  if (known) return known;
  const parsed = ipaddr.parseCIDR(network);
  if (parsedNetworks.size < MOST_PARSED_NETWORKS) parsedNetworks.set(network, parsed);
  return parsed;
}

// ipaddr.js counts unallocated IPv6 space as unicast; what is routed on the Internet lies in 2000::/3.
function isGlobalUnicast(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast' || CLOUD_HOSTS.some((host) => contains(host, address))) return false;
  return address.kind() === 'ipv4' || contains('2000::/3', address);
}
