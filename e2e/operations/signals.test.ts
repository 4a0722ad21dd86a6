import { once } from 'node:events';
import { describe, type TestContext, test } from 'vitest';
import { findProgram } from '../programs/find-program.ts';
import { configOf, testFolder } from './service-config.ts';
import { LAUNCHERS, type Launcher, startServiceBy } from './started-service.ts';

const launchers = Object.keys(LAUNCHERS) as Launcher[];

/** A look at npm and the terminal comes once a second, and two of them have to agree. */
const PATIENCE = { timeout: 15_000 };

/** Its running work gets a second after Ctrl-C, and less than half of one is for its end. */
const IDLE_END_MS = 1500;
/** A service is ended so often before it counts as slow. */
const MOST_ENDS = 5;

/** Signals, sessions and shells as Linux has them. */
describe.skipIf(process.platform !== 'linux').each(['depot', 'master'] as const)('a %s', (service) => {
  const start = (launcher: Launcher, { onTestFinished }: TestContext, env: NodeJS.ProcessEnv = {}) => {
    const config = configOf(service, {}, testFolder(onTestFinished));
    return startServiceBy(launcher, service, config, { onTestFinished, env });
  };

  test.concurrent.for(launchers)(
    'started by %s ends with a SIGTERM to what was started',
    async (launcher, context) => {
      const { expect } = context;
      const started = await start(launcher, context);
      process.kill(started.topPid, 'SIGTERM');
      await expect.poll(started.left, PATIENCE).toEqual([]);
      await expect.poll(started.log).toMatch(/"msg":"ends: (SIGTERM|the npm that ran it has gone)"/);
    },
  );

  test.concurrent.for(launchers)(
    'started by %s ends with Ctrl-C, which all of its group get',
    async (launcher, context) => {
      const { expect } = context;
      const started = await start(launcher, context);
      process.kill(-started.topPid, 'SIGINT');
      await expect.poll(started.left, PATIENCE).toEqual([]);
      await expect.poll(started.log).toContain('"msg":"ends: SIGINT"');
    },
  );

  test.concurrent.for(['sh', 'bash'])(
    'started by npm exec through %s ends when npm is killed',
    async (shell, context) => {
      const { expect } = context;
      const started = await start('npm exec', context, { npm_config_script_shell: findProgram(shell) });
      process.kill(started.topPid, 'SIGKILL');
      await expect.poll(started.left, PATIENCE).toEqual([]);
      await expect.poll(started.log).toContain('"msg":"ends: the npm that ran it has gone"');
    },
  );

  test('that has nothing to do ends within a second and a half of Ctrl-C', async (context) => {
    const { expect } = context;
    const tookMs: number[] = [];
    // A machine with other work to do may make it late, not each time.
    while (tookMs.length < MOST_ENDS && !(Math.min(...tookMs) < IDLE_END_MS)) {
      const started = await start('node main.ts', context);
      const exited = once(started.top, 'exit');
      const askedMs = performance.now();
      process.kill(started.pid, 'SIGINT');
      await exited;
      tookMs.push(performance.now() - askedMs);
    }
    expect(Math.min(...tookMs)).toBeLessThan(IDLE_END_MS);
  }, 60_000);

  test.concurrent('takes one SIGTERM that comes twice, from npm and from the group, for one', async (context) => {
    const { expect } = context;
    const started = await start('node main.ts', context);
    process.kill(started.pid, 'SIGTERM');
    process.kill(started.pid, 'SIGTERM');
    await expect.poll(started.left, PATIENCE).toEqual([]);
    await expect.poll(() => started.top.exitCode).toBe(0);
    await expect.poll(() => started.log().match(/"msg":"ends: /g)).toHaveLength(1);
  });
});
