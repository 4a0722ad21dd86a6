import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BROWSER_TIMEOUT_MS } from './browser.ts';
import type { BrowserHome } from './browser-home.ts';

const POLL_MS = 50;
const KEPT_OUTPUT_CHARS = 4_000;

const ENVIRONMENT = {
  // A crash is reported to nobody.
  MOZ_CRASHREPORTER_DISABLE: '1',
  // Without it a release of Firefox ignores the preference that keeps it from fetching its remote settings.
  MOZ_REMOTE_SETTINGS_DEVTOOLS: '1',
};

/** A Firefox process. */
export class FirefoxProcess {
  readonly #child: ChildProcess;
  readonly #profileDir: string;
  readonly #exited: Promise<unknown>;
  readonly #kill = (): void => {
    // Its helper processes notice, and end too.
    this.#child.kill('SIGKILL');
  };
  #output = '';

  /** Starts Firefox under the control of Marionette. Its profile must ask for port 0. */
  constructor(executable: string, home: BrowserHome) {
    const args = ['--headless', '--marionette', '--remote-allow-system-access', '--no-remote'];
    this.#profileDir = home.profileDir;
    this.#child = spawn(executable, [...args, '--profile', home.profileDir], {
      env: { ...home.env, ...ENVIRONMENT },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#exited = once(this.#child, 'exit').catch(() => undefined);
    this.#child.on('error', (error) => this.#keep(error.message));
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#keep(chunk.toString()));
    this.#child.stderr?.on('data', (chunk: Buffer) => this.#keep(chunk.toString()));
    process.once('exit', this.#kill);
  }

  /** The port on which this Firefox listens for Marionette. Rejects when it ends or is not ready in time. */
  async marionettePort(): Promise<number> {
    const deadline = Date.now() + BROWSER_TIMEOUT_MS;
    while (Date.now() < deadline && this.#isRunning()) {
      const text = await readFile(join(this.#profileDir, 'MarionetteActivePort'), 'latin1').catch(() => '');
      if (/^\d+$/.test(text.trim())) return Number(text);
      await delay(POLL_MS);
    }
    throw new Error(`Firefox did not start. Its last output:\n${this.#output}`);
  }

  /**
   * Waits until the process has ended, and ends it by force when that takes too long.
   * @param patienceMs how long it may take to end by itself; 0 when it was not asked to.
   */
  async ended(patienceMs: number): Promise<void> {
    const patience = new AbortController();
    const tooLong = delay(patienceMs, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([this.#exited, tooLong]);
    patience.abort();
    this.#kill();
    await this.#exited;
    process.removeListener('exit', this.#kill);
  }

  #isRunning(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  #keep(text: string): void {
    this.#output = (this.#output + text).slice(-KEPT_OUTPUT_CHARS);
  }
}
