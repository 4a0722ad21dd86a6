import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, vi } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    natsServer: string;
  }
}

/** Whether there is a nats-server to test with; where `CI` is set it must be there. */
export const hasNatsServer = inject('natsServer') !== '' || Boolean(process.env.CI);

interface NatsServerInit {
  /** What its configuration says beside its ports. */
  readonly config?: string;
  /** What stands in its block `cluster` beside its port; left out, it has none. */
  readonly cluster?: string;
}

/** A nats-server on ports of loopback that it keeps when it starts again. */
export class TestNatsServer {
  readonly #init: NatsServerInit;
  readonly #folder: string;
  #process: ChildProcess | undefined;
  #ports = { nats: -1, cluster: -1 };
  /** All that it has logged. */
  log = '';

  constructor(init: NatsServerInit, folder: string) {
    this.#init = init;
    this.#folder = folder;
  }

  /** For masters. */
  get url(): string {
    return `nats://127.0.0.1:${this.#ports.nats}`;
  }

  get port(): number {
    return this.#ports.nats;
  }

  /** For other servers. */
  get clusterPort(): number {
    return this.#ports.cluster;
  }

  async start(): Promise<void> {
    const { config = '', cluster } = this.#init;
    const { nats, cluster: clusterPort } = this.#ports;
    const lines = [
      `listen: "127.0.0.1:${nats}"`,
      `ports_file_dir: "${this.#folder}"`,
      config,
      cluster === undefined ? '' : `cluster {\n  listen: "127.0.0.1:${clusterPort}"\n  ${cluster}\n}`,
      '',
    ];
    const file = join(this.#folder, 'nats-server.conf');
    await writeFile(file, lines.join('\n'));
    const child = spawn(inject('natsServer'), ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#process = child;
    child.stderr.on('data', (data) => {
      this.log += String(data);
    });
    const portsFile = join(this.#folder, `nats-server_${child.pid}.ports`);
    const ports = await vi.waitFor(
      async () => JSON.parse(await readFile(portsFile, 'utf8')) as { nats: string[]; cluster?: string[] },
      10_000,
    );
    const portOf = (url = '') => Number(/:(\d+)$/.exec(url)?.[1] ?? -1);
    this.#ports = { nats: portOf(ports.nats[0]), cluster: portOf(ports.cluster?.[0]) };
  }

  /** Stands still, with all of its connections, until it goes on. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  goOn(): void {
    this.#process?.kill('SIGCONT');
  }

  /** Reads its configuration again. */
  reload(): void {
    this.#process?.kill('SIGHUP');
  }

  /** Ends at once, as when the machine loses power. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true });
  }
}

/** Starts a nats-server. The caller closes it. */
export async function startNatsServer(init: NatsServerInit = {}): Promise<TestNatsServer> {
  const server = new TestNatsServer(init, await mkdtemp(join(tmpdir(), 'longhaul-nats-')));
  await server.start();
  return server;
}
