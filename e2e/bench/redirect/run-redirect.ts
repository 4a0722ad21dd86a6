import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machineLoad } from '../../lab/results/machine-load.ts';
import { processGroup } from '../measure/process-group.ts';
import type { BenchRun } from '../run/bench-run.ts';
import { CONTESTANTS, REDIRECT_CASES, type RedirectCaseId } from './redirect-case.ts';
import type { RedirectLine } from './redirect-line.ts';
import { makeCertificate, type Redirector, startRedirector } from './start-contestants.ts';

const LOAD_MAIN = join(import.meta.dirname, 'load-main.ts');
/** Of the requests of a run, asked for before: Node compiles what is asked for often. */
const WARM_UP_SHARE = 1;
/** A request over a new TLS connection costs as much as so many over one that stays. */
const TLS_COSTS = 20;

export interface RedirectRun extends BenchRun<RedirectLine> {
  readonly cases: readonly RedirectCaseId[];
  /** Of each run over plain HTTP. */
  readonly requests: number;
}

/** Asks each contestant for each kind of redirect, in turn, and counts what its process needs. */
export async function runRedirect({
  cases,
  repeats,
  requests,
  file,
  say,
  signal,
}: RedirectRun): Promise<void> {
  for (const id of cases) {
    const missing = Array.from({ length: repeats }, (_, index) => index + 1).filter(
      (repeat) =>
        !CONTESTANTS.every((one) =>
          file.lines.some((line) => line.case === id && line.repeat === repeat && line.contestant === one),
        ),
    );
    if (missing.length === 0) continue;
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-redirect-'));
    const { mode, links, isNew } = REDIRECT_CASES[id];
    const tls = mode === 'http' ? undefined : await makeCertificate(folder);
    const asked = mode === 'http' ? requests : Math.ceil(requests / TLS_COSTS);
    const running = new Map<string, Redirector>();
    try {
      for (const contestant of CONTESTANTS)
        running.set(
          contestant,
          await startRedirector(contestant, { folder: join(folder, contestant), tls, links }),
        );
      let first = 0;
      const load = async (server: Redirector, amount: number) => {
        const kind = isNew ? 'new' : 'same';
        const args = [
          '127.0.0.1',
          server.port,
          mode,
          amount,
          server.path,
          server.leadsTo,
          kind,
          first,
          ...(tls ? [tls.caFile] : []),
        ];
        first += amount;
        await ask(args.map(String));
      };
      for (const server of running.values()) await load(server, Math.ceil(WARM_UP_SHARE * asked));
      for (const repeat of missing)
        for (const contestant of CONTESTANTS) {
          signal.throwIfAborted();
          const server = running.get(contestant);
          if (!server) continue;
          const group = processGroup(server.pid);
          const before = group.cpuNs();
          await load(server, asked);
          const cpuUs = Math.round(Number(group.cpuNs() - before) / asked / 10) / 100;
          const lastMinute = machineLoad();
          file.append({
            bench: 'redirect',
            case: id,
            contestant,
            repeat,
            requests: asked,
            cpuUs,
            load: lastMinute,
          });
          say(`${id}, ${repeat}., ${contestant}: ${cpuUs} us`);
        }
    } finally {
      await Promise.all([...running.values()].map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

async function ask(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [LOAD_MAIN, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`a redirect was answered otherwise: ${said}`);
}
