import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { selfSigned } from '../tls/self-signed.ts';
import { checkConfig, readConfigFile, readNamedFiles } from './config-file.ts';
import { addressPolicySchema, listenSchema } from './config-schemas.ts';

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

test('what is missing is said to be so, whatever it should be', () => {
  expect(() => checkConfig(schema, null)).toThrow(/- listen: is missing\)$/);
  const kinds = z.object({
    kind: z.enum(['a', 'b']),
    either: z.union([z.string(), z.number()]),
    own: z.string({ error: 'name one' }),
    wrong: z.string(),
  });
  const attempt = () => checkConfig(kinds, { wrong: 7 });
  expect(attempt).toThrow(
    /kind: is missing\n.*either: is missing\n.*own: name one\n.*wrong: Invalid input: expected string, received number\)$/,
  );
});

test('of a file that is another one, only the beginning is told', () => {
  const line = (at: number) => `user${at}:$6$${'salt'.repeat(4)}$${'hash'.repeat(20)}:19000:0:99999:7::`;
  const other = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [line(at), null]));
  const told = (attempt: () => unknown) => {
    try {
      attempt();
    } catch (failure) {
      return String(failure);
    }
    return '';
  };
  const unknown = told(() => checkConfig(schema, { listen: { host: '::', port: 0, ...other }, ...other }));
  expect(unknown).toContain('- user0:$6...: there is no such key');
  expect(unknown).toContain('- and 280 more that are no keys');
  expect(unknown).not.toMatch(/salt|hash/);
  expect(unknown.length).toBeLessThan(4000);
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'service.yaml');
  writeFileSync(path, 'password: "hunter2\n');
  const broken = told(() => readConfigFile(path, (input) => input));
  expect(broken).toMatch(/is not YAML \(MISSING_CHAR, line 2, column 1\)/);
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  for (const content of ['password: *hunter2\n', 'password: !hunter2 x\n']) {
    writeFileSync(path, content);
    let said = '';
    try {
      readConfigFile(path, (input) => input);
    } catch (failure) {
      said = inspect(failure);
    }
    expect(said, content).not.toContain('hunter2');
  }
  expect(warn).not.toHaveBeenCalled();
});

test('ports 80 and 443 are always allowed', () => {
  const config = checkConfig(schema, { listen: { host: '::', port: 0 }, addresses: { ports: [8080] } });
  expect(config.addresses).toEqual({ ports: [80, 443, 8080], allow: [], overlayNetworks: [] });
});

test('files are looked for beside the configuration, and all that cannot be used are listed by their keys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'service.yaml');
  writeFileSync(path, 'secretFile: secret # relative\n');
  writeFileSync(join(folder, 'secret'), ' open sesame\n');
  writeFileSync(join(folder, 'blank'), '\n');
  const { config, baseDir } = readConfigFile(path, (input) => input as { secretFile: string });
  const read = readNamedFiles(baseDir, (files) => files.secret('secretFile', config.secretFile));
  expect(read).toBe('open sesame');
  const attempt = () =>
    readNamedFiles(baseDir, (files) => [
      files.secret('one', 'missing'),
      files.secret('two', 'blank'),
      files.tls('tls', { certFile: 'secret', keyFile: 'secret' }),
      files.authorities('trusted', ['secret']),
    ]);
  expect(attempt).toThrow(
    /- one: .*missing cannot be read: there is no such file .*\n {2}- two: blank is empty\n {2}- tls: .*\n {2}- trusted\.0: /,
  );
});

test('a certificate must be for the host that clients dial, be it a name or an address', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { cert, key } = selfSigned();
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  const read = (host?: string) =>
    readNamedFiles(folder, ({ tls }) => tls('tls', { certFile: 'cert.pem', keyFile: 'key.pem' }, host));
  expect(read()).toEqual({ cert, key });
  expect(read('127.0.0.1')).toEqual({ cert, key });
  for (const other of ['127.0.0.2', '::1', 'd1.example'])
    expect(() => read(other)).toThrow(`tls: the certificate in certFile is not for ${other}`);
});

test.each([
  ['that is not there', undefined, 'cannot be read'],
  ['that is no YAML', 'listen: {', 'is not YAML'],
])('a configuration %s is named', (_, content, reason) => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'service.yaml');
  if (content !== undefined) writeFileSync(path, content);
  expect(() => readConfigFile(path, (input) => input)).toThrow(`${path} ${reason}`);
});
