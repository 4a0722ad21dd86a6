import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { machineLoad } from '../../lab/results/machine-load.ts';
import { rounded } from '../../lab/results/rounded.ts';
import { type ServiceProcess, startProgram, startService } from '../../overlay/service-process.ts';
import { freePort } from '../../programs/free-port.ts';
import { findNatsServer } from '../../programs/nats-server.ts';
import { processGroup } from '../measure/process-group.ts';
import type { BenchRun } from '../run/bench-run.ts';
import type { FactsLine } from './facts-line.ts';

const TELLER_MAIN = join(import.meta.dirname, '..', '..', 'lab', 'sites', 'teller-main.ts');
const HOST = '127.0.0.1';
/** How often a master that joins late is asked whether it knows everything. */
const ASK_EVERY_MS = 5;
const JOIN_TIMEOUT_MS = 20_000;

export interface FactsRun extends BenchRun<FactsLine> {
  readonly depots: number;
  /** Of each depot. */
  readonly links: number;
  /** Of each measurement. */
  readonly seconds: number;
  /** Before the first one. */
  readonly warmUpSeconds: number;
}

/**
 * Measures what a second of an overlay's reports costs a master that hears them, one that is told, and one
 * that joins late.
 */
export async function runFacts({
  depots,
  links,
  seconds,
  warmUpSeconds,
  repeats,
  file,
  say,
  signal,
}: FactsRun): Promise<void> {
  const program = findNatsServer();
  if (program === undefined) throw new Error('there is no nats-server: npm run test:unit builds it');
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-facts-'));
  const [port, watchPort] = [await freePort(), await freePort()];
  const url = `nats://${HOST}:${port}`;
  const server = spawn(program, ['-a', HOST, '-p', String(port), '-m', String(watchPort)], {
    stdio: 'ignore',
  });
  const sentBytes = async (): Promise<number> => {
    const answer = await fetch(`http://${HOST}:${watchPort}/varz`);
    return ((await answer.json()) as { in_bytes: number }).in_bytes;
  };
  const launch = ([first, ...rest]: readonly [string, ...string[]], cwd: string) =>
    spawn(first, rest, { cwd, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const startMaster = (site: string): Promise<ServiceProcess> =>
    startService(
      'master',
      join(folder, site),
      site,
      {
        listen: { host: HOST, port: 0 },
        stateDir: 'state',
        origins: ['origin.example'],
        bus: { site, servers: [url] },
      },
      launch,
    );
  /**
   * A master that starts now: how long it takes from when it listens, and what it costs, until it knows what
   * the others do.
   */
  const joinLate = async (site: string) => {
    const late = await startMaster(site);
    const { cpuNs } = processGroup(late.pid);
    const [sinceMs, before] = [performance.now(), cpuNs()];
    try {
      await isReady(late);
      const joinedMs = Math.round(performance.now() - sinceMs);
      return { joinedMs, joinedCpuMs: Math.round(Number(cpuNs() - before) / 1e6) };
    } finally {
      await late.stop();
    }
  };
  const open: ServiceProcess[] = [];
  try {
    const teller = await startProgram(
      [TELLER_MAIN, '--server', url, '--depots', String(depots), '--links', String(links)],
      folder,
      'teller',
      launch,
    );
    open.push(teller);
    const told = await startMaster('told');
    open.push(told);
    await isReady(told);
    await delay(warmUpSeconds * 1000, undefined, { signal });
    for (let repeat = 1; repeat <= repeats; repeat += 1) {
      if (file.lines.some((line) => line.repeat === repeat)) continue;
      signal.throwIfAborted();
      const parties = [teller.pid, told.pid, server.pid].map(processGroup);
      const before = parties.map(({ cpuNs }) => cpuNs());
      const [sinceMs, sentBefore] = [performance.now(), await sentBytes()];
      await delay(seconds * 1000, undefined, { signal });
      const passedMs = performance.now() - sinceMs;
      const cores = parties.map(
        ({ cpuNs }, index) => Number(cpuNs() - (before[index] ?? 0n)) / 1e6 / passedMs,
      );
      const [tellingCores = 0, toldCores = 0, serverCores = 0] = cores.map((share) => rounded(share, 3));
      const bytesPerSecond = Math.round(((await sentBytes()) - sentBefore) / (passedMs / 1000));
      const joining = await joinLate(`late-${repeat}`);
      const load = machineLoad();
      file.append({
        bench: 'facts',
        depots,
        links,
        repeat,
        tellingCores,
        toldCores,
        serverCores,
        bytesPerSecond,
        ...joining,
        load,
      });
      say(`${repeat}.: ${tellingCores} of a core telling, ${toldCores} told, ${joining.joinedMs} ms to join`);
    }
  } finally {
    for (const each of open.toReversed()) await each.stop();
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves when a master says that it knows what the others do. */
async function isReady({ url }: ServiceProcess): Promise<void> {
  const deadlineMs = performance.now() + JOIN_TIMEOUT_MS;
  while (performance.now() < deadlineMs) {
    const answer = await fetch(`${url}/healthz/ready`);
    if ((await answer.text()).trim() === 'ready') return;
    await delay(ASK_EVERY_MS);
  }
  throw new Error('a master that joined has never known what the others do');
}
