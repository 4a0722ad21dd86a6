import type { ChildProcess, StdioOptions } from 'node:child_process';
import { spawnInside } from './namespaces.ts';

/** A program that has not ended by then is killed. */
const STOP_TIMEOUT_MS = 2000;

/** The programs that were started at the sites of one network. */
export class SiteProcesses {
  readonly #running = new Set<ChildProcess>();

  /** Starts a program in a namespace. */
  spawn(namespace: string, command: readonly string[], stdio: StdioOptions, cwd?: string): ChildProcess {
    const child = spawnInside(namespace, command, { stdio, ...(cwd === undefined ? {} : { cwd }) });
    // Without a pid it was never started, and whoever asked for it hears of the error.
    if (child.pid !== undefined) this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    return child;
  }

  /** Asks all to end, kills those that do not, and waits until every one has ended. */
  async endAll(): Promise<void> {
    await Promise.all([...this.#running].map(end));
  }
}

async function end(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}
