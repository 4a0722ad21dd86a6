import { dirname, resolve } from 'node:path';
import { LonghaulError } from '@longhaul/shared';
import { commandLineWrong, readCommandLine } from '@longhaul/shared/service';
import { DEFAULT_CONNECTIONS, DEFAULT_PREPARED_WAYS, DEFAULT_TRANSFERS } from '../config.ts';
import { type DepotFiles, loadDepotFiles } from '../config-file.ts';
import { DEFAULT_LANES_TOTAL } from '../lanes/lanes-config.ts';
import { DEFAULT_LEG_TABLE } from '../sockets/leg-options.ts';
import { DOCTOR_USAGE } from '../usage.ts';
import { createAskMaster } from './ask-master.ts';
import { checkCertificates } from './certificate-checks.ts';
import { examine } from './examine.ts';
import { type Finding, formatFindings } from './finding.ts';
import { type Machine, openMachine } from './machine.ts';
import { checkSecrets } from './secret-checks.ts';

/** A usual port of a server ... */
const DEFAULT_MBPS = 1000;
/** ... and a way across an ocean. */
const DEFAULT_RTT_MS = 100;

/** What has descriptors where nothing is configured. */
const DEFAULT_USERS = {
  transfers: DEFAULT_TRANSFERS,
  connections: DEFAULT_CONNECTIONS,
  lanes: DEFAULT_LANES_TOTAL,
  preparedWays: DEFAULT_PREPARED_WAYS,
};

interface DoctorComponents {
  readonly write: (text: string) => void;
  /** Of Longhaul, for those who ask. */
  readonly version: string;
  readonly nowMs: () => number;
  /** The machine to look at; left out, the one this process runs on. */
  readonly machine?: Machine;
}

/**
 * `longhaul-depot doctor`: writes what this machine lacks for the configured depot and for filling a way with one
 * connection, and whether the master would take the depot. Gives the exit code: 1 when a check fails. Throws
 * `command-line-wrong`.
 */
export async function runDoctor(args: readonly string[], components: DoctorComponents): Promise<number> {
  const asked = readCommandLine(args, ['config', 'mbps', 'rtt-ms']);
  if (asked.kind === 'help') components.write(DOCTOR_USAGE);
  else if (asked.kind === 'version') components.write(`longhaul-depot ${components.version}\n`);
  else return diagnose(asked.values, components);
  return 0;
}

async function diagnose(
  values: { readonly config?: string; readonly mbps?: string; readonly 'rtt-ms'?: string },
  components: DoctorComponents,
): Promise<number> {
  const goal = {
    bandwidthBps: positive('--mbps', values.mbps, DEFAULT_MBPS) * 1e6,
    rttMs: positive('--rtt-ms', values['rtt-ms'], DEFAULT_RTT_MS),
  };
  const { files, findings } = readConfiguration(values.config);
  const examined = await examine(components.machine ?? openMachine(), {
    sockets: files?.config.sockets ?? DEFAULT_LEG_TABLE,
    users: files ? { ...files.config.limits, lanes: files.config.lanes.total } : DEFAULT_USERS,
    threadTls: {
      ofClients: files?.config.relay.tls === 'auto' && files.tls !== undefined,
      ofOrigins: files?.config.relay.tls === 'auto',
    },
    goal,
    master: files && createAskMaster(files, components.nowMs),
  });
  const certificates = files ? checkCertificates(files, components.nowMs()) : [];
  const secrets = files ? checkSecrets(files, dirname(resolve(values.config ?? ''))) : [];
  const all = [...findings, ...certificates, ...secrets, ...examined];
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

function positive(option: string, text: string | undefined, preset: number): number {
  const value = text === undefined ? preset : Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw commandLineWrong(`${option} must be a number above 0`);
}
