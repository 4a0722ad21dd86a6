import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, type ExpectStatic, test } from 'vitest';
import { findProgram } from '../programs/find-program.ts';
import { beatingDepot } from './beating-depot.ts';
import { configOf, testFolder } from './service-config.ts';
import { killAll, processesWith } from './session-processes.ts';
import { BIN, cleanEnvironment, root } from './started-service.ts';

/** Of util-linux; it makes terminals. */
const SCRIPT = findProgram('script');
const PATIENCE = { timeout: 15_000 };
/** Longer than it takes to miss npm: a beat is as long as a look. */
const BEATS = 4;

const binOf = (service: string) => join(BIN, `longhaul-${service}`);

/** Runs a command line in a terminal that `script` makes. The terminal is closed when `script` is killed. */
function openTerminal(command: string) {
  const terminal = spawn(SCRIPT ?? '', ['-qfec', command, '/dev/null'], {
    cwd: root,
    detached: true,
    // An input that ends would end the terminal.
    stdio: ['pipe', 'pipe', 'ignore'],
    env: cleanEnvironment(),
  });
  let shown = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  return {
    shows: (expect: ExpectStatic, text: string) => expect.poll(() => shown, PATIENCE).toContain(text),
    close: () => terminal.kill('SIGKILL'),
  };
}

const cannotOpen = process.platform !== 'linux' || SCRIPT === undefined;
describe.skipIf(cannotOpen)('in a terminal', () => {
  test.concurrent.for([
    ['depot', 'started by its bin', `${binOf('depot')} --config`],
    ['depot', 'started by npm exec', 'npm exec longhaul-depot -- --config'],
    ['depot', 'whose log goes elsewhere', `2>/dev/null ${binOf('depot')} --config`],
    ['master', 'started by its bin', `${binOf('master')} --config`],
    ['master', 'started by npm exec', 'npm exec longhaul-master -- --config'],
  ] as const)(
    'a %s %s ends when it is closed, and nothing stays',
    async ([service, , command], { expect, onTestFinished }) => {
      const folder = testFolder(onTestFinished);
      onTestFinished(() => killAll(processesWith(folder)));
      const terminal = openTerminal(`${command} ${configOf(service, {}, folder)}`);
      await terminal.shows(expect, 'ready {');
      terminal.close();
      await expect.poll(() => processesWith(folder), PATIENCE).toEqual([]);
    },
  );

  test.concurrent('a depot takes a SIGHUP while it is open for a request to reload', async ({
    expect,
    onTestFinished,
  }) => {
    const { config } = await beatingDepot(onTestFinished);
    const terminal = openTerminal(`${binOf('depot')} --config ${config}`);
    await terminal.shows(expect, 'ready {');
    const service = processesWith(config).find(({ command }) => command.startsWith('node '));
    process.kill(service?.pid ?? 0, 'SIGHUP');
    await terminal.shows(expect, '"msg":"reloaded: nothing');
    expect(processesWith(config)).toContainEqual(service);
  });

  test.concurrent.for(['nohup', 'setsid'])(
    'a depot started by %s goes on when it is closed',
    async (program, { expect, onTestFinished }) => {
      const { config, out, said, beats } = await beatingDepot(onTestFinished);
      const depot = `${binOf('depot')} --config ${config}`;
      const terminal = openTerminal(`${program} ${depot} >${out} 2>&1 </dev/null & cat`);
      await expect.poll(said, PATIENCE).toContain('ready {');
      terminal.close();
      const before = beats();
      await expect.poll(beats, PATIENCE).toBeGreaterThan(before + BEATS);
      expect(said()).not.toContain('"msg":"ends');
    },
  );
});
