import { LISTEN_BACKLOG } from '../kernel/listener-calls.ts';
import { PIPE_BYTES } from '../relay/pipe-pool.ts';
import {
  type DescriptorUsers,
  leastDescriptorsFor,
  parseDescriptorLimit,
  type ThreadTls,
} from '../sockets/descriptor-limits.ts';
import type { Finding } from './finding.ts';
import { type Machine, readSysctl } from './machine.ts';

/** Pipes that hold bytes at the same time on a busy depot; most flows wait for the network. */
const PIPES_AT_ONCE = 256;
const PAGE_BYTES = 4096;
/** Connections that Node has wait while it is busy, where no relay thread listens. */
const NODE_BACKLOG = 511;

/**
 * Descriptors that all that is configured needs, against what the system lets this process have; by the same sums as a
 * depot that has fewer lowers its limits.
 */
export function checkDescriptors(machine: Machine, users: DescriptorUsers, threadTls?: ThreadTls): Finding {
  const what = 'open files';
  const hard = parseDescriptorLimit(machine.readText('/proc/self/limits') ?? '');
  if (hard === undefined) return { level: 'ok', what, found: 'not limited here' };
  const { transfers, connections } = users;
  const busy = leastDescriptorsFor({ ...users, connections: Math.min(connections, transfers) }, threadTls);
  const full = leastDescriptorsFor(users, threadTls);
  const found = `${hard}; ${transfers} transfers need ${busy}, and ${full} with idle clients`;
  if (hard >= full) return { level: 'ok', what, found };
  const change = `LimitNOFILE=${full} in the service, ulimit -Hn ${full}, or fewer limits.transfers`;
  return { level: hard < busy ? 'fail' : 'warn', what, found, change };
}

/** Memory for pipes, without which the relay moves bytes through its own. */
export function checkPipes(machine: Machine): Finding[] {
  if (machine.platform !== 'linux') return [];
  return [checkPipePages(machine), checkPipeSize(machine)];
}

function checkPipePages(machine: Machine): Finding {
  const what = 'fs.pipe-user-pages-soft';
  const [pages = 0] = readSysctl(machine, what) ?? [];
  if (machine.isPrivileged) return { level: 'ok', what, found: `${pages}; does not count for root` };
  if (pages === 0) return { level: 'ok', what, found: 'no limit' };
  const wanted = (PIPES_AT_ONCE * PIPE_BYTES) / PAGE_BYTES;
  const pipes = Math.floor((pages * PAGE_BYTES) / PIPE_BYTES);
  const found = `${pages}: ${pipes} pipes of 1 MiB, no splicing beyond`;
  if (pages >= wanted) return { level: 'ok', what, found };
  return { level: 'warn', what, found, change: `sysctl -w ${what}=${wanted}` };
}

function checkPipeSize(machine: Machine): Finding {
  const what = 'fs.pipe-max-size';
  const [bytes = 0] = readSysctl(machine, what) ?? [];
  if (bytes >= PIPE_BYTES || machine.isPrivileged) return { level: 'ok', what, found: String(bytes) };
  return { level: 'warn', what, found: String(bytes), change: `sysctl -w ${what}=${PIPE_BYTES}` };
}

/**
 * Room for clients that connect at the same moment: as much as whoever listens asks for. Relay threads do
 * where they end TLS.
 */
export function checkBacklog(machine: Machine, threadTls?: ThreadTls): Finding {
  const what = 'net.core.somaxconn';
  const [most] = readSysctl(machine, what) ?? [];
  const wanted = threadTls?.ofClients ? LISTEN_BACKLOG : NODE_BACKLOG;
  if (most === undefined || most >= wanted) return { level: 'ok', what, found: String(most ?? 'no limit') };
  return { level: 'warn', what, found: String(most), change: `sysctl -w ${what}=${LISTEN_BACKLOG}` };
}
