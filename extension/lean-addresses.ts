import type { Plugin } from 'vite';

/** Of the library of addresses, what the add-on never asks for: it is one object, of which no bundler knows that. */
const UNUSED = [
  'IPv4.broadcastAddressFromCIDR',
  'IPv4.isValidCIDRFourPartDecimal',
  'IPv4.isValidFourPartDecimal',
  'IPv4.networkAddressFromCIDR',
  'IPv4.prototype.prefixLengthFromSubnetMask',
  'IPv4.subnetMaskFromPrefixLength',
  'IPv6.broadcastAddressFromCIDR',
  'IPv6.networkAddressFromCIDR',
  'IPv6.prototype.prefixLengthFromSubnetMask',
  'IPv6.prototype.toFixedLengthString',
  'IPv6.subnetMaskFromPrefixLength',
];
const LIBRARY = /\/ipaddr\.js\/lib\/ipaddr\.js$/;

/**
 * Leaves unused functions of `ipaddr.js` out: a kilobyte of the package. Stops the build where the library
 * has changed, or something uses one.
 */
export function leanAddresses(): Plugin {
  return {
    name: 'longhaul-lean-addresses',
    transform: (code, id) =>
      LIBRARY.test(id) ? { code: UNUSED.reduce(without, code), map: null } : undefined,
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle))
        for (const name of UNUSED) {
          const called = `.${name.slice(name.lastIndexOf('.') + 1)}(`;
          if (file.type === 'chunk' && file.code.includes(called))
            throw new Error(`${file.fileName} calls ${called}), which is left out of the add-on.`);
        }
    },
  };
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
