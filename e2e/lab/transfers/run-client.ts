import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Network } from '../network/network.ts';

/** A client asked to end that has not done so by then hangs. */
const END_GRACE_MS = 5000;

export interface ClientRun {
  /** Exit code; null when a signal ended it. */
  readonly code: number | null;
  /** From the start of the process to its end. */
  readonly seconds: number;
  /** When it was asked to end; null when it ended by itself. */
  readonly endedAfterSeconds: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ClientSpec {
  readonly network: Network;
  readonly site: string;
  readonly command: readonly string[];
  /** Where it works; see {@link withTransferFolder}. */
  readonly folder: string;
  /** Asked to end after so many seconds, by `signal`, and killed if that does not help. */
  readonly endAfterSeconds: number;
  readonly signal: NodeJS.Signals;
}

/** Where {@link runClient} puts what a client says that works in `folder`; it can be read while the client runs. */
export function clientLogFile(folder: string): string {
  return join(folder, 'stderr.log');
}

/** Runs a client to its end. Rejects only when it could not be started. */
export async function runClient(spec: ClientSpec): Promise<ClientRun> {
  const logFile = clientLogFile(spec.folder);
  // A file and not a pipe: what a client says must not cost the driver time while it measures.
  const log = openSync(logFile, 'w');
  const started = performance.now();
  const secondsSoFar = () => (performance.now() - started) / 1000;
  let endedAfterSeconds: number | null = null;
  const timers: NodeJS.Timeout[] = [];
  try {
    const child = spec.network.spawn(spec.site, spec.command, ['ignore', 'pipe', log], spec.folder);
    const end = () => {
      endedAfterSeconds = secondsSoFar();
      child.kill(spec.signal);
      timers.push(setTimeout(() => child.kill('SIGKILL'), END_GRACE_MS));
    };
    timers.push(setTimeout(end, spec.endAfterSeconds * 1000));
    let seconds = 0;
    child.once('exit', () => {
      seconds = secondsSoFar();
    });
    let stdout = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, seconds, endedAfterSeconds, stdout, stderr: readFileSync(logFile, 'utf8') };
  } finally {
    for (const timer of timers) clearTimeout(timer);
    closeSync(log);
  }
}

/** Gives `use` an empty folder inside the network's, and removes it whatever happens. */
export async function withTransferFolder<T>(
  network: Network,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(network.folder, 'transfer-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The file a client wrote; empty when it never began. */
export function readOutput(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
