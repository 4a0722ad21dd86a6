import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../fixtures/run-program.ts';
import { findProgram } from '../programs/find-program.ts';
import { testFolder } from './service-config.ts';
import { BIN, cleanEnvironment, root, startInSession } from './started-service.ts';

/** A global address, as a depot must have one; in a network of its own it is nobody's. */
const ADDRESS = '11.0.0.1';
const DNS = join(import.meta.dirname, 'one-address-dns.ts');

const UNSHARE = findProgram('unshare');

type OnTestFinished = (end: () => void) => void;

/** Networks and mounts of their own: names lead to this machine, and the ports of the examples are free. */
async function ownMachine(folder: string, onTestFinished: OnTestFinished): Promise<readonly string[]> {
  const resolvers = join(folder, 'resolv.conf');
  writeFileSync(resolvers, 'nameserver 127.0.0.1\n');
  const script = `ip link set lo up
ip address add ${ADDRESS}/32 dev lo
mount --bind ${resolvers} /etc/resolv.conf
exec ${process.execPath} ${DNS} ${ADDRESS}`;
  const holder = spawn(UNSHARE ?? '', ['--net', '--mount', 'sh', '-ec', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => holder.kill('SIGKILL'));
  await Promise.race([
    once(holder.stdout, 'data'),
    once(holder, 'exit').then(() => Promise.reject(new Error('there is no machine of its own'))),
  ]);
  return ['nsenter', '--target', String(holder.pid), '--net', '--mount', `--wd=${root}`];
}

/** The commands under a heading of docs/operators.md, without the line that names the folder. */
function commandsOf(heading: string): readonly string[] {
  const page = readFileSync(join(root, 'docs', 'operators.md'), 'utf8');
  const section = page.split(/^## /m).find((one) => one.startsWith(`${heading}\n`)) ?? '';
  const blocks = [...section.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, text = '']) => text);
  return blocks
    .join('')
    .replace(/^SITE=.*\n/m, '')
    .split(/^(?=npm exec)|(?<=^npm exec .*\n)/m);
}

const canHaveMachine =
  process.getuid?.() === 0 &&
  UNSHARE !== undefined &&
  ['curl', 'ip', 'nsenter', 'openssl'].every((name) => findProgram(name) !== undefined) &&
  spawnSync(UNSHARE, ['--net', '--mount', 'true']).status === 0;

test.skipIf(!canHaveMachine)(
  'what docs/operators.md tells sets up a master and a depot from the examples as they stand',
  async ({ onTestFinished }) => {
    const site = join(testFolder(onTestFinished), 'site');
    const enter = await ownMachine(join(site, '..'), onTestFinished);
    const { PATH } = cleanEnvironment();
    const done: string[] = [];
    for (const command of commandsOf('Set up a site')) {
      const inShell = [...enter, 'sh', '-ec', command];
      const service = /^npm exec (longhaul-(?:master|depot)) -- --config/.exec(command)?.[1];
      if (service === undefined) {
        const environment = [`SITE=${site}`, `PATH=${PATH}`];
        const { code, output } = await runProgram('env', [...environment, ...inShell], root);
        // Of this machine it may say what it likes.
        if (command.includes('doctor')) expect(output).toMatch(/^ok +.*master/m);
        else expect([code, output]).toEqual([0, expect.anything()]);
      } else {
        await startInSession(inShell, new RegExp(`${service} `), { onTestFinished, env: { SITE: site } });
      }
      done.push(service ?? (command.includes('doctor') ? 'doctor' : 'sh'));
    }
    expect(done).toEqual(['sh', 'longhaul-master', 'sh', 'doctor', 'longhaul-depot']);

    const curl = [...enter, 'curl', '-sS', '--cacert', join(site, 'authority.pem')];
    const ask = async (url: string) => (await runProgram('env', [...curl, url], root)).output;
    expect(await ask('https://d1.depots.example:8443/healthz/ready')).toBe('ready\n');
    const status = JSON.parse(await ask('https://get.example/v1/status')) as object;
    expect(status).toMatchObject({ depots: [{ id: 'd1', state: 'up' }] });
    expect(await ask('https://get.example/get/https/elsewhere.example/file')).toContain('origin-not-allowed');
  },
);

test.skipIf(!existsSync(join(BIN, 'node'))).each(['depot', 'master'])(
  'the systemd unit of a %s calls it so that no other Node on the path matters',
  async (service) => {
    const name = `longhaul-${service}`;
    const unit = readFileSync(join(root, 'docs', 'examples', 'systemd', `${name}.service`), 'utf8');
    const [, command = ''] = /^ExecStart=(.*) --config \/etc\/longhaul\/\w+\.yaml$/m.exec(unit) ?? [];
    const [node = '', ...args] = command.replaceAll('/opt/longhaul', root).split(' ');
    const environment = ['-i', 'PATH=/usr/bin:/bin', node, ...args, '--version'];
    const { code, output } = await runProgram('env', environment, '/');
    expect([code, output]).toEqual([0, expect.stringMatching(new RegExp(`^${name} `))]);
  },
);
