import { isAddressLiteral } from './address-policy.ts';
import { canonicalHost, parsePort } from './origin-url.ts';

/** A rule for origins: `example.org`, `*.example.org` (every name below it), either with `:port`. */
export interface HostPattern {
  readonly host: string;
  readonly subdomains: boolean;
  /** `undefined`: every port that the address policy permits. */
  readonly port: number | undefined;
}

/** Parses a host pattern; `undefined` when it is not one. */
export function parseHostPattern(text: string): HostPattern | undefined {
  const match = /^(\*\.)?(\[[^\]]*\]|[^:*]+)(?::([0-9]+))?$/.exec(text.trim());
  const host = match?.[2] === undefined ? undefined : canonicalHost(match[2]);
  if (!match || !host?.ok) return undefined;
  const subdomains = match[1] !== undefined;
  if (subdomains && isAddressLiteral(host.value)) return undefined;
  if (match[3] === undefined) return { host: host.value, subdomains, port: undefined };
  const port = parsePort(match[3]);
  return port.ok ? { host: host.value, subdomains, port: port.value } : undefined;
}

/** Whether a canonical host and port fall under the pattern. */
export function matchesHostPattern(pattern: HostPattern, host: string, port: number): boolean {
  if (pattern.port !== undefined && pattern.port !== port) return false;
  return pattern.subdomains ? host.endsWith(`.${pattern.host}`) : host === pattern.host;
}
