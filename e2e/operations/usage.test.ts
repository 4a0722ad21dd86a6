import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { ERRORS, type ErrorCode } from '@longhaul/shared';
import { describe, type TestContext, test } from 'vitest';
import { runService, SERVICES, type Service } from './run-service.ts';
import { configOf, testFolder } from './service-config.ts';
import { root } from './started-service.ts';

/** An account without privileges: `nobody` of most systems. */
const NOBODY = { uid: 65534, gid: 65534 } as const;
const read = `require('fs').accessSync(${JSON.stringify(SERVICES.depot.main)})`;
const canBeNobody =
  process.getuid?.() === 0 && spawnSync(process.execPath, ['-e', read], NOBODY).status === 0;

describe.each(['depot', 'master'] as const)('a %s as a program', (service) => {
  const { name } = SERVICES[service];

  test.concurrent.for(['--help', '-h'])('says with %s how it is called', async (option, { expect }) => {
    const { code, output } = await runService(service, [option], root);
    expect(code).toBe(0);
    expect(output).toMatch(new RegExp(`^Usage: ${name} --config <file>`));
    for (const known of ['--config', '--help', '--version', 'SIGTERM', 'SIGHUP'])
      expect(output).toContain(known);
  });

  test.concurrent('says which version it is', async ({ expect }) => {
    const { code, output } = await runService(service, ['--version'], root);
    expect([code, output]).toEqual([0, expect.stringMatching(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\n$`))]);
  });

  test.concurrent.for([
    ['nothing', [], '--config is missing'],
    ['an option that it does not know', ['--confg', 'x'], "Unknown option '--confg'"],
    ['an option without its value', ['--config'], "'--config <value>'"],
    ['a word that means nothing', ['run', '--config', 'x'], "'run'"],
  ] as const)(
    'given %s says so and how it is called, with exit code 2',
    async ([, args, what], { expect }) => {
      const { code, output } = await runService(service, args, root);
      expect(code).toBe(2);
      expect(output).toContain(`${name}: ${sentence('command-line-wrong')} (`);
      expect(output.split('\n')[0]).toContain(what);
      expect(output).toContain(`\nUsage: ${name} --config <file>`);
    },
  );

  test.concurrent('says that its port is taken and what to do', async (context) => {
    const { expect } = context;
    const other = createServer().listen(0, '127.0.0.1');
    context.onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const refusal = await refusalOf(service, context, { listen: { host: '127.0.0.1', port } });
    expect(refusal).toBe(`${name}: ${sentence('port-in-use')} (127.0.0.1:${port})`);
  });

  test.concurrent('says that an address is not of this machine', async (context) => {
    const { expect } = context;
    const refusal = await refusalOf(service, context, { listen: { host: '192.0.2.1', port: 8443 } });
    expect(refusal).toBe(`${name}: ${sentence('address-not-here')} (192.0.2.1:8443)`);
  });

  test.concurrent.for([
    ['is not there', 'none.yaml', 'there is no such file'],
    ['is a folder', '.', 'it is a folder'],
  ])('says that its configuration %s', async ([, file = '', reason = ''], { expect, onTestFinished }) => {
    const { code, output } = await runService(service, ['--config', file], testFolder(onTestFinished));
    expect(code).toBe(1);
    expect(output).toContain(`${name}: ${sentence('config-invalid')} (${file} cannot be read: ${reason}`);
  });

  test.concurrent.for(['file', 'file/state'])(
    'says that %s cannot be its state folder',
    async (stateDir, context) => {
      const { expect } = context;
      const folder = testFolder(context.onTestFinished);
      writeFileSync(join(folder, 'file'), '');
      const refusal = await refusalOf(service, context, { stateDir }, { folder });
      expect(refusal).toContain(`${name}: ${sentence('state-unusable')} (${folder}/${stateDir}: `);
    },
  );

  test.skipIf(!canBeNobody)('without privileges says what they would be for', async (context) => {
    const { expect, onTestFinished } = context;
    const folder = testFolder(onTestFinished);
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'own'));
    chownSync(join(folder, 'own'), NOBODY.uid, NOBODY.gid);
    writeFileSync(join(folder, 'closed.pem'), '', { mode: 0o600 });
    const refused = (change: object) => refusalOf(service, context, change, { folder, account: NOBODY });

    const port = await refused({ stateDir: 'own', listen: { host: '127.0.0.1', port: 81 } });
    expect(port).toBe(`${name}: ${sentence('port-privileged')} (127.0.0.1:81)`);
    const state = await refused({ stateDir: 'closed' });
    expect(state).toContain(`${name}: ${sentence('state-unusable')} (${folder}/closed: this account may not`);
    const tls = await refused({ tls: { certFile: 'closed.pem', keyFile: 'closed.pem' } });
    expect(tls).toMatch(/ {2}- tls: .*closed\.pem cannot be read: this account may not/);
  });
});

describe('the doctor', () => {
  const doctor = (args: readonly string[]) => runService('depot', ['doctor', ...args], root);

  test.concurrent.for(['--help', '-h'])(
    'says with %s what each of its options means',
    async (option, { expect }) => {
      const { code, output } = await doctor([option]);
      expect(code).toBe(0);
      expect(output).toMatch(/^Usage: longhaul-depot doctor /);
      const options = [...output.matchAll(/^ {2}(?:-h, )?(--[a-z-]+)/gm)].map(([, name = '']) => name);
      expect(options).toEqual(['--config', '--mbps', '--rtt-ms', '--help', '--version']);
      const page = readFileSync(join(root, 'docs', 'operators.md'), 'utf8');
      for (const name of options.slice(0, 3)) expect(page).toContain(name);
    },
  );

  test.concurrent.for([
    [['--mpbs', '10'], "Unknown option '--mpbs'"],
    [['--mbps', 'fast'], '--mbps must be a number above 0'],
  ] as const)('refuses %j with its own usage and exit code 2', async ([args, what], { expect }) => {
    const { code, output } = await doctor(args);
    expect(code).toBe(2);
    expect(output).toContain(`longhaul-depot doctor: ${sentence('command-line-wrong')} (${what}`);
    expect(output).toContain('\nUsage: longhaul-depot doctor');
  });
});

interface Where {
  readonly folder?: string;
  readonly account?: { readonly uid: number; readonly gid: number };
}

/** What a service with a changed configuration says last, when it refuses to start: no stack, no JSON. */
async function refusalOf(
  service: Service,
  { expect, onTestFinished }: TestContext,
  change: object,
  { folder = testFolder(onTestFinished), account }: Where = {},
): Promise<string> {
  const config = configOf(service, change, folder);
  const { code, output } = await runService(service, ['--config', config], folder, account);
  expect(code).toBe(1);
  expect(output, 'no stack, no JSON').not.toMatch(/^\s+at |^\{/m);
  return output.trimEnd();
}

function sentence(code: ErrorCode): string {
  return `${code}: ${ERRORS[code].message}`;
}
