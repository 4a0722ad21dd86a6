import { parseArgs } from 'node:util';
import { LonghaulError } from '@longhaul/shared';
import { DEFAULT_CONNECTIONS, DEFAULT_TRANSFERS } from '../config.ts';
import { type DepotFiles, loadDepotFiles } from '../config-file.ts';
import { DEFAULT_LEG_TABLE } from '../sockets/leg-options.ts';
import { createAskMaster } from './ask-master.ts';
import { examine } from './examine.ts';
import { type Finding, formatFindings } from './finding.ts';
import { type Machine, openMachine } from './machine.ts';

/** A usual port of a server ... */
const DEFAULT_MBPS = 1000;
/** ... and a way across an ocean. */
const DEFAULT_RTT_MS = 100;

interface DoctorComponents {
  readonly write: (text: string) => void;
  readonly nowMs: () => number;
  /** The machine to look at; left out, the one this process runs on. */
  readonly machine?: Machine;
}

/**
 * `longhaul-depot doctor [--config depot.yaml] [--mbps 1000] [--rtt-ms 100]`: writes what this machine lacks for the
 * configured depot and for filling such a way with one connection, and whether the master would take the depot. Gives the exit code: 1 when a check fails. Throws on
 * options it does not know.
 */
export async function runDoctor(args: readonly string[], components: DoctorComponents): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: 'string' },
      mbps: { type: 'string', default: String(DEFAULT_MBPS) },
      'rtt-ms': { type: 'string', default: String(DEFAULT_RTT_MS) },
    },
  });
  const goal = {
    bandwidthBps: positive('--mbps', values.mbps) * 1e6,
    rttMs: positive('--rtt-ms', values['rtt-ms']),
  };
  const { files, findings } = readConfiguration(values.config);
  const examined = await examine(components.machine ?? openMachine(), {
    sockets: files?.config.sockets ?? DEFAULT_LEG_TABLE,
    transfers: files?.config.limits.transfers ?? DEFAULT_TRANSFERS,
    connections: files?.config.limits.connections ?? DEFAULT_CONNECTIONS,
    goal,
    master: files && createAskMaster(files, components.nowMs),
  });
  const all = [...findings, ...examined];
  components.write(formatFindings(all));
  return all.some(({ level }) => level === 'fail') ? 1 : 0;
}

/** A configuration with mistakes is a finding like any other; the machine is then held against the defaults. */
function readConfiguration(path: string | undefined): { files?: DepotFiles; findings: Finding[] } {
  const what = 'configuration';
  if (path === undefined)
    return { findings: [{ level: 'ok', what, found: 'none given: the defaults count' }] };
  try {
    return { files: loadDepotFiles(path), findings: [{ level: 'ok', what, found: path }] };
  } catch (failure) {
    if (!(failure instanceof LonghaulError)) throw failure;
    const mistakes = (failure.detail ?? failure.message).split(/\n\s*-?\s*/).filter((line) => line !== '');
    return {
      findings: mistakes.map((found) => ({ level: 'fail', what, found, change: `correct ${path}` })),
    };
  }
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new Error(`${option} must be a number above 0`);
}
