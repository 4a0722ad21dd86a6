import type { Plugin, Rolldown } from 'vite';

/** Of the library of addresses, what the add-on never asks for: it is one object, of which no bundler knows that. */
const UNUSED = [
  'IPv4.broadcastAddressFromCIDR',
  'IPv4.isIPv4',
  'IPv4.isValidCIDR',
  'IPv4.isValidCIDRFourPartDecimal',
  'IPv4.isValidFourPartDecimal',
  'IPv4.networkAddressFromCIDR',
  'IPv4.prototype.prefixLengthFromSubnetMask',
  'IPv4.prototype.toByteArray',
  'IPv4.prototype.toIPv4MappedAddress',
  'IPv4.prototype.toNormalizedString',
  'IPv4.prototype.toString',
  'IPv4.subnetMaskFromPrefixLength',
  'IPv6.broadcastAddressFromCIDR',
  'IPv6.isIPv6',
  'IPv6.isValidCIDR',
  'IPv6.networkAddressFromCIDR',
  'IPv6.prototype.prefixLengthFromSubnetMask',
  'IPv6.prototype.toByteArray',
  'IPv6.prototype.toFixedLengthString',
  'IPv6.prototype.toNormalizedString',
  'IPv6.prototype.toRFC5952String',
  'IPv6.prototype.toString',
  'IPv6.subnetMaskFromPrefixLength',
  'fromByteArray',
  'isValidCIDR',
];
/** The one module that reads addresses with it. */
const READER = /\/shared\/src\/address-policy\.ts$/;
const LIBRARY = /\/ipaddr\.js\/lib\/ipaddr\.js$/;
/** Its own lines, between those that say where they are put. */
const WRAPPED = /^\(function \(root\) \{\n([^]*?) +\/\/ Export for both[^]*\n\}\(this\)\);\s*$/;

/**
 * Leaves unused functions of `ipaddr.js` out, and what another kind of module needs around it: more than two kilobytes
 * of the package. Stops the build where the library has changed, or something uses one.
 */
export function leanAddresses(): Plugin {
  return {
    name: 'longhaul-lean-addresses',
    transform: (code, id) =>
      LIBRARY.test(id) ? { code: asModule(UNUSED.reduce(without, code)), map: null } : undefined,
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle))
        for (const name of UNUSED) {
          const called = `.${name.slice(name.lastIndexOf('.') + 1)}(`;
          if (file.type === 'chunk' && callersIn(file, called).includes(called))
            throw new Error(`${file.fileName} calls ${called}), which is left out of the add-on.`);
        }
    },
  };
}

/** What of a file might call this: everything has a `toString`. */
function callersIn({ code, modules }: Rolldown.OutputChunk, called: string): string {
  if (called !== '.toString(') return code;
  return Object.entries(modules)
    .map(([id, module]) => (READER.test(id) ? module.code : ''))
    .join('\n');
}

/** The library's source without one function, which ends where its own indentation does. */
function without(source: string, name: string): string {
  const assignment = new RegExp(
    `^( +)(?:ipaddr\\.)?${name.replaceAll('.', '[.]')} = function [^]*?^\\1\\};\\n`,
    'm',
  );
  if (!assignment.test(source)) throw new Error(`The library of addresses has no ${name} any more.`);
  return source.replace(assignment, '');
}

/** The library's source as a module of the kind that all others here are. */
function asModule(source: string): string {
  const [, body] = WRAPPED.exec(source) ?? [];
  if (body === undefined) throw new Error('The library of addresses is wrapped otherwise than it was.');
  return `${body}export default ipaddr;\n`;
}
