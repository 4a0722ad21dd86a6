import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ERRORS, type ErrorCode } from '@longhaul/shared';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { runService, SERVICES, type Service } from './run-service.ts';

/** An account without privileges: `nobody` of most systems. */
const NOBODY = { uid: 65534, gid: 65534 } as const;
const canBeNobody =
  process.getuid?.() === 0 &&
  spawnSync(process.execPath, ['-e', `require('fs').accessSync('${SERVICES.depot.main}')`], NOBODY).status ===
    0;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-usage-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

/** The least that each service needs; nobody listens at the depot's master. */
const LEAST = {
  depot: { id: 'd1', master: { url: 'http://127.0.0.1:1', enrolmentSecretFile: 'secret' } },
  master: { origins: ['origin.example'] },
} as const;

function configOf(service: Service, change: object = {}): string {
  writeFileSync(join(folder, 'secret'), 'secret');
  const file = join(folder, `${service}.yaml`);
  const config = {
    listen: { host: '127.0.0.1', port: 0 },
    stateDir: 'state',
    ...LEAST[service],
    ...change,
  };
  writeFileSync(file, stringify(config));
  return file;
}

/** Runs a service that refuses to start, and gives the one line that it says. */
async function refusalOf(service: Service, args: readonly string[]) {
  const { code, output } = await runService(service, args, folder);
  expect(output, 'no stack, no JSON').not.toMatch(/^\s+at |^\{/m);
  return { code, output };
}

describe.each(['depot', 'master'] as const)('a %s as a program', (service) => {
  const { name } = SERVICES[service];

  test.each(['--help', '-h'])('says with %s how it is called', async (option) => {
    const { code, output } = await runService(service, [option], folder);
    expect(code).toBe(0);
    expect(output).toMatch(new RegExp(`^Usage: ${name} --config <file>`));
    for (const known of ['--config', '--help', '--version', 'SIGTERM']) expect(output).toContain(known);
  });

  test('says which version it is', async () => {
    const { code, output } = await runService(service, ['--version'], folder);
    expect([code, output]).toEqual([0, expect.stringMatching(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\n$`))]);
  });

  test.each([
    ['nothing', [], '--config is missing'],
    ['an option that it does not know', ['--confg', 'x'], "Unknown option '--confg'"],
    ['an option without its value', ['--config'], "'--config <value>'"],
    ['a word that means nothing', ['run', '--config', 'x'], "'run'"],
  ])('given %s says so and how it is called, with exit code 2', async (_, args, what) => {
    const { code, output } = await refusalOf(service, args);
    expect(code).toBe(2);
    expect(output).toContain(`${name}: ${sentence('command-line-wrong')}`);
    expect(output).toContain(what);
    expect(output).toContain(`Usage: ${name} --config <file>`);
  });

  test('finds its port taken and says what to do', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const config = configOf(service, { listen: { host: '127.0.0.1', port } });
    const { code, output } = await refusalOf(service, ['--config', config]);
    expect([code, lastLine(output)]).toEqual([1, `${name}: ${sentence('port-in-use')} (127.0.0.1:${port})`]);
  });

  test('says that an address is not of this machine', async () => {
    const config = configOf(service, { listen: { host: '192.0.2.1', port: 8443 } });
    const { code, output } = await refusalOf(service, ['--config', config]);
    expect([code, lastLine(output)]).toEqual([
      1,
      `${name}: ${sentence('address-not-here')} (192.0.2.1:8443)`,
    ]);
  });

  test('says that its configuration is not there, or is a folder', async () => {
    const missing = await refusalOf(service, ['--config', 'none.yaml']);
    expect([missing.code, missing.output]).toEqual([
      1,
      expect.stringMatching(/config-invalid: .*none\.yaml cannot be read: there is no such file/s),
    ]);
    const isFolder = await refusalOf(service, ['--config', folder]);
    expect(isFolder.output).toMatch(/cannot be read: it is a folder/);
  });

  test('says that its state folder cannot be one', async () => {
    writeFileSync(join(folder, 'file'), '');
    for (const stateDir of ['file', 'file/state']) {
      const { code, output } = await refusalOf(service, ['--config', configOf(service, { stateDir })]);
      expect(code).toBe(1);
      expect(lastLine(output)).toContain(`${name}: ${sentence('state-unusable')} (`);
      expect(lastLine(output)).toMatch(/file(\/state)?: (there is a file|a file is) /);
    }
  });

  test.skipIf(!canBeNobody)('without privileges says what they would be for', async () => {
    chmodSync(folder, 0o755);
    const refusal = async (change: object = {}) => {
      const { code, output } = await runService(
        service,
        ['--config', configOf(service, change)],
        folder,
        NOBODY,
      );
      expect(code).toBe(1);
      return lastLine(output);
    };
    mkdirSync(join(folder, 'own'));
    chownSync(join(folder, 'own'), NOBODY.uid, NOBODY.gid);
    const port = await refusal({ stateDir: 'own', listen: { host: '127.0.0.1', port: 81 } });
    expect(port).toBe(`${name}: ${sentence('port-privileged')} (127.0.0.1:81)`);
    expect(await refusal({ stateDir: 'closed' })).toMatch(/state-unusable: .*closed: this account may not/);
    const tls = { certFile: 'closed.pem', keyFile: 'closed.pem' };
    writeFileSync(join(folder, 'closed.pem'), '', { mode: 0o600 });
    expect(await refusal({ tls })).toMatch(/tls: .*closed\.pem cannot be read: this account may not/);
  });
});

describe('the doctor', () => {
  const doctor = (args: readonly string[]) => runService('depot', ['doctor', ...args], folder);

  test.each(['--help', '-h'])('says with %s what it looks at and what each option means', async (option) => {
    const { code, output } = await doctor([option]);
    expect(code).toBe(0);
    expect(output).toMatch(/^Usage: longhaul-depot doctor /);
    const options = [...output.matchAll(/^ {2}(?:-h, )?(--[a-z-]+)/gm)].map(([, name = '']) => name);
    expect(options).toEqual(['--config', '--mbps', '--rtt-ms', '--help', '--version']);
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'operators.md'), 'utf8');
    for (const name of options.slice(0, 3)) expect(page).toContain(name);
  });

  test.each([
    [['--mpbs', '10'], "Unknown option '--mpbs'"],
    [['--mbps', 'fast'], '--mbps must be a number above 0'],
  ])('refuses %j with its own usage and exit code 2', async (args, what) => {
    const { code, output } = await doctor(args);
    expect(code).toBe(2);
    expect(output).toContain(`longhaul-depot doctor: ${sentence('command-line-wrong')} (${what}`);
    expect(output).toContain('Usage: longhaul-depot doctor');
  });
});

function sentence(code: ErrorCode): string {
  return `${code}: ${ERRORS[code].message}`;
}

function lastLine(output: string): string {
  return output.trimEnd().split('\n').at(-1) ?? '';
}
