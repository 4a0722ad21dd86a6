import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';

const OBEY = new URL('./obey-signals.ts', import.meta.url).href;

/** A service that ends like this when it gets SIGTERM; gives what it said until its end, and how it ended. */
async function ended(service: string): Promise<{ said: string; code: unknown }> {
  const program = `
    import { obeySignals } from ${JSON.stringify(OBEY)};
    const log = { info: () => {}, error: ({ code }) => console.log('error ' + code) };
    obeySignals({ graceMs: { drain: 0, soon: 0, now: 0 }, reload: () => {}, log, ${service} });
    setInterval(() => {}, 1000);
    console.log('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  expect(String(first)).toBe('ready\n');
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const said = await text(child.stdout);
  return { said, code: (await exit)[0] };
}

/** Longer than a service without anything to write is waited for. */
const SAVING =
  "close: () => new Promise((resolve) => setTimeout(() => { console.log('saved'); resolve(); }, 1500))";
const NEVER = 'close: () => new Promise(() => {})';

describe.skipIf(process.platform === 'win32')('a service that is asked to end', () => {
  test('is waited for while it saves what took it long before, or nobody knows how long', async () => {
    for (const withinMs of ['5000', 'Infinity']) {
      const lastSave = `lastSave: () => ({ withinMs: ${withinMs}, isDone: false })`;
      expect(await ended(`${SAVING}, ${lastSave}`)).toEqual({ said: 'saved\n', code: 0 });
    }
  });

  test('says so with a code where it is ended before it has saved, and only then', async () => {
    const lastSave = (isDone: boolean) => `lastSave: () => ({ withinMs: 0, isDone: ${isDone} })`;
    const cut = await ended(`${NEVER}, ${lastSave(false)}`);
    expect(cut).toEqual({ said: 'error state-not-saved\n', code: 0 });
    expect(await ended(`${NEVER}, ${lastSave(true)}`)).toEqual({ said: '', code: 0 });
    expect(await ended(NEVER)).toEqual({ said: '', code: 0 });
  });
});
