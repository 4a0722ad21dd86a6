import { expect, test } from 'vitest';
import * as z from 'zod';
import { addressPolicySchema, checkConfig, listenSchema } from './config.ts';

const schema = z.strictObject({ listen: listenSchema, addresses: addressPolicySchema.prefault({}) });

test('a bad configuration is refused with every mistake and its key', () => {
  const attempt = () =>
    checkConfig(schema, {
      listen: { host: 'nowhere', port: 70000, prot: 1 },
      addresses: { allow: [{ network: 'x' }] },
    });
  expect(attempt).toThrow(/listen\.host:[^]*listen\.port:[^]*listen\.prot: there is no such key/);
  expect(attempt).toThrow(/addresses\.allow\.0\.network:[^]*addresses\.allow\.0\.ports:/);
});

test('an empty file names what is missing', () => {
  expect(() => checkConfig(schema, null)).toThrow(/listen:/);
});

test('ports 80 and 443 are always allowed', () => {
  const config = checkConfig(schema, { listen: { host: '::', port: 0 }, addresses: { ports: [8080] } });
  expect(config.addresses).toEqual({ ports: [80, 443, 8080], allow: [] });
});
