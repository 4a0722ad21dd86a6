/** The parts of a configuration file that depots and masters have in common. */
import * as z from 'zod';
import {
  type AddressPolicy,
  DEFAULT_PORTS_ALLOWED,
  isAddressLiteral,
  isNetwork,
} from '../../address-policy.ts';
import { type Authority, canonicalHost, DEFAULT_PORTS } from '../../origin-url.ts';

/** A TCP port; 0 lets the system choose one. */
export const portSchema = z
  .int('must be a whole number')
  .min(0, 'must be 0 to 65535')
  .max(65535, 'must be 0 to 65535');

/** Where a service listens. `::` means every IPv4 and IPv6 address. */
export const listenSchema = z.strictObject({
  host: z
    .string()
    .refine((host) => isAddressLiteral(host), 'must be an IP address, for example 127.0.0.1 or "::"')
    .transform(canonical),
  port: portSchema,
});

function canonical(address: string): string {
  const host = canonicalHost(address);
  return host.ok ? host.value : address;
}

/** PEM files of a listener; both or nothing. */
export const tlsFilesSchema = z.strictObject({ certFile: z.string().min(1), keyFile: z.string().min(1) });
export type TlsFiles = z.output<typeof tlsFilesSchema>;

const networkSchema = z
  .string()
  .refine(isNetwork, 'must be a network in CIDR form, for example 192.0.2.0/24');

export const networksSchema = z.array(networkSchema);

/** Who reads metrics where nothing is said: the machine itself. */
export const DEFAULT_METRICS_NETWORKS: readonly string[] = ['127.0.0.0/8', '::1/128'];

/** Names, beside its own one, by which operators ask a service for what is theirs. */
export const metricsHostsSchema = z
  .array(z.string().refine(isCanonicalName, 'must be a host name in lower case'))
  .default([]);

/** Which addresses downloads may come from, beside the public ones on ports 80 and 443, and where depots may be. */
export const addressPolicySchema: z.ZodType<AddressPolicy> = z.strictObject({
  ports: z
    .array(portSchema.min(1))
    .default([])
    .transform((ports) => [...DEFAULT_PORTS_ALLOWED, ...ports]),
  allow: z
    .array(
      z.strictObject({
        network: networkSchema,
        ports: z.array(portSchema.min(1)).min(1, 'must name a port'),
      }),
    )
    .default([]),
  overlayNetworks: networksSchema.default([]),
});

function isCanonicalName(name: string): boolean {
  const host = canonicalHost(name);
  return host.ok && host.value === name && !isAddressLiteral(name);
}

/** Static names, asked before DNS: for tests, laboratories and sites with fixed addresses. */
export const namesSchema = z.record(
  z.string().refine(isCanonicalName, 'must be a host name in lower case, without a final dot'),
  z.array(z.string().refine((text) => isAddressLiteral(text), 'must be an IP address')).min(1),
);

/**
 * An absolute http or https base URL in its one spelling, which add-ons compare: in lower case, without the
 * port that its scheme has anyway, without a dot behind the host and a slash at its end.
 */
export const baseUrlSchema = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .refine((text) => !/[?#@]/.test(text), 'must be without a name and password, a query and a fragment')
  .transform((text) => {
    const { protocol, host, pathname } = new URL(text);
    return `${protocol}//${host.replace(/\.(:[0-9]+)?$/, '$1')}${pathname.replace(/\/+$/, '')}`;
  });

/** Host and port of a base URL. Throws a `TypeError` for what is no URL. */
export function authorityOf(baseUrl: string): Authority {
  const { hostname, port, protocol } = new URL(baseUrl);
  const host = canonicalHost(hostname);
  return {
    host: host.ok ? host.value : hostname,
    port: Number(port) || DEFAULT_PORTS[protocol === 'https:' ? 'https' : 'http'],
  };
}

/** A week. Timers hold no more than 24 days, sums of three times included; past that they would fire at once. */
const MAX_SECONDS = 604_800;
const TOO_LONG = `must be at most ${MAX_SECONDS} seconds`;

/** A time of the configuration, in seconds, with the one that counts where none is given. */
export const seconds = (preset: number) =>
  z.number().positive('must be more than 0 seconds').max(MAX_SECONDS, TOO_LONG).default(preset);

/** The same for times that travel in whole seconds. */
export const wholeSeconds = (preset: number) =>
  z.int().min(1, 'must be at least 1 second').max(MAX_SECONDS, TOO_LONG).default(preset);
