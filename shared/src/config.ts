/** The parts of a configuration file that depots and masters have in common, and the one way to check a file. */
import * as z from 'zod';
import { type AddressPolicy, DEFAULT_PORTS_ALLOWED, isAddressLiteral, isNetwork } from './address-policy.ts';
import { LonghaulError } from './errors.ts';
import { canonicalHost } from './origin-url.ts';

/** A TCP port; 0 lets the system choose one. */
export const portSchema = z
  .int('must be a whole number')
  .min(0, 'must be 0 to 65535')
  .max(65535, 'must be 0 to 65535');

/** Where a service listens. `::` means every IPv4 and IPv6 address. */
export const listenSchema = z.strictObject({
  host: z
    .string()
    .refine((host) => isAddressLiteral(host), 'must be an IP address, for example 127.0.0.1 or "::"'),
  port: portSchema,
});

/** PEM files of a listener; both or nothing. */
export const tlsFilesSchema = z.strictObject({ certFile: z.string().min(1), keyFile: z.string().min(1) });

const networkSchema = z
  .string()
  .refine(isNetwork, 'must be a network in CIDR form, for example 192.0.2.0/24');

export const networksSchema = z.array(networkSchema);

/** Which addresses downloads may come from, beside the public ones on ports 80 and 443. */
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

/** An absolute http or https base URL, without a slash at its end. */
export const baseUrlSchema = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .transform((url) => url.replace(/\/+$/, ''));

/**
 * Checks a configuration against its schema. Throws `config-invalid` whose detail lists every mistake, one a line, with
 * the key's full name.
 */
export function checkConfig<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input ?? {});
  if (result.success) return result.data;
  const mistakes = result.error.issues.flatMap(describeIssue);
  throw new LonghaulError('config-invalid', { detail: mistakes.map((line) => `\n  - ${line}`).join('') });
}

function describeIssue(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${[...path, key].join('.')}: there is no such key`);
  }
  return [`${path.length > 0 ? path.join('.') : 'the whole file'}: ${issue.message}`];
}
