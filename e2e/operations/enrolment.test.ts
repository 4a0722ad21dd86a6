import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { freePort } from '../programs/free-port.ts';
import { SERVICES, type Service } from './run-service.ts';
import { configOf, testFolder } from './service-config.ts';
import { root, startServiceBy } from './started-service.ts';

vi.setConfig({ testTimeout: 180_000 });

/** Runs a command of a service to its end. */
function run(service: Service, args: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SERVICES[service].main, ...args], {
    cwd: root,
    encoding: 'utf8',
    input,
  });
  return { status, stdout, stderr };
}

async function statesAt(url: string): Promise<string[]> {
  const { depots } = (await (await fetch(`${url}/v1/status`)).json()) as {
    depots: { id: string; state: string }[];
  };
  return depots.map(({ id, state }) => `${id} ${state}`);
}

test('a depot without the secret joins by a token, takes another key, and is out once it is revoked', async ({
  onTestFinished,
}) => {
  const addresses = { overlayNetworks: ['127.0.0.0/8'] };
  const folder = testFolder(onTestFinished);
  const listen = { host: '127.0.0.1', port: await freePort() };
  const masterFile = configOf('master', { listen, addresses, depots: { enrolment: 'tokens' } }, folder);
  const master = await startServiceBy('node main.ts', 'master', masterFile, { onTestFinished });
  const site = testFolder(onTestFinished);
  const change = { id: 'pe', master: { url: master.url, heartbeatSeconds: 1 }, addresses };
  const depotFile = configOf('depot', change, site);
  const withConfig = ['--config', depotFile];

  const made = run('master', ['create-token', '--config', masterFile, '--site', 'pe']);
  expect([made.status, made.stderr]).toEqual([0, '']);
  const joined = run('depot', ['join', ...withConfig, '--token-file', '-'], made.stdout);
  expect([joined.status, joined.stdout, joined.stderr]).toEqual([0, 'joined as pe\n', '']);
  const keyFile = join(site, 'state', 'depot-key.pem');
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  expect(master.log()).not.toContain(made.stdout.split('.')[2]);

  const depot = await startServiceBy('node main.ts', 'depot', depotFile, { onTestFinished });
  await expect.poll(() => statesAt(master.url), { timeout: 60_000 }).toEqual(['pe up']);

  const before = readFileSync(keyFile, 'utf8');
  const rotated = run('depot', ['rotate-key', ...withConfig]);
  expect([rotated.status, rotated.stderr]).toEqual([0, '']);
  expect(readFileSync(keyFile, 'utf8')).not.toBe(before);
  await depot.said(/depot-not-joined.*start it again: its key was rotated/);
  process.kill(depot.pid, 'SIGKILL');
  // As a crash leaves it that comes between the last two writes.
  copyFileSync(keyFile, join(site, 'state', 'depot-key.next.pem'));
  const second = readFileSync(keyFile, 'utf8');
  const rotatedAgain = run('depot', ['rotate-key', ...withConfig]);
  expect([rotatedAgain.status, rotatedAgain.stderr]).toEqual([0, '']);
  expect(readFileSync(keyFile, 'utf8')).not.toBe(second);
  const again = await startServiceBy('node main.ts', 'depot', depotFile, { onTestFinished });
  await expect.poll(() => statesAt(master.url), { timeout: 60_000 }).toEqual(['pe up']);

  const revoked = run('master', ['revoke-depot', '--config', masterFile, '--depot', 'pe']);
  expect([revoked.status, revoked.stdout]).toEqual([0, 'revoked\n']);
  expect(await statesAt(master.url)).toEqual([]);
  await again.said('depot-key-revoked');
});

test('a damaged key file stops a depot, stays as it is, and the refusal says what to do', ({
  onTestFinished,
}) => {
  const folder = testFolder(onTestFinished);
  const depotFile = configOf('depot', { stateDir: '.' }, folder);
  writeFileSync(join(folder, 'depot-key.pem'), 'no key');
  const started = run('depot', ['--config', depotFile]);
  expect([started.status, started.stderr]).toEqual([
    1,
    expect.stringMatching(
      /depot-key-damaged: .*restore it from a copy, or remove it and join with a new token/,
    ),
  ]);
  expect(readFileSync(join(folder, 'depot-key.pem'), 'utf8')).toBe('no key');
});

test.each(['zzz', 'longhaul-join-1.short', 'longhaul-join-1.'])(
  'a token that is none (%j) cannot be taken back, and the refusal says what can',
  (token) => {
    const asked = run('master', ['revoke-token', '--config', 'unread.yaml', '--token', token]);
    expect([asked.status, asked.stdout]).toEqual([2, '']);
    expect(asked.stderr).toMatch(/--token must be the whole token, or its id as list-tokens tells it/);
  },
);
