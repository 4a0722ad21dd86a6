import type { LegTable } from '../sockets/leg-options.ts';
import type { Finding } from './finding.ts';
import { type Machine, readSysctl } from './machine.ts';

/** The way a depot shall be able to fill with one connection. */
export interface PathGoal {
  readonly bandwidthBps: number;
  readonly rttMs: number;
}

/** Of a receive buffer Linux offers about half as window; of a send buffer, headers and clones take as much. */
const BUFFER_PER_WINDOW = 2;
/** Of all transfers, how many may have stalled readers before the kernel's memory for TCP comes under pressure. */
const STALLED_SHARE = 0.1;
const BYTES_PER_MIB = 1_048_576;
const PAGE_BYTES = 4096;

/** Whether one connection can fill the way that is asked for: the kernel's buffers against bandwidth x delay. */
export function checkBuffers(machine: Machine, sockets: LegTable, goal: PathGoal): Finding[] {
  const bdpBytes = (goal.bandwidthBps / 8) * (goal.rttMs / 1000);
  const caps = Object.values(sockets);
  return [
    checkTuning(machine, 'net.ipv4.tcp_rmem', goal, bdpBytes),
    checkTuning(machine, 'net.ipv4.tcp_wmem', goal, bdpBytes),
    checkCap(
      machine,
      'net.core.rmem_max',
      'receiveBufferBytes',
      caps.map((cap) => cap.receiveBufferBytes),
    ),
    checkCap(
      machine,
      'net.core.wmem_max',
      'sendBufferBytes',
      caps.map((cap) => cap.sendBufferBytes),
    ),
  ];
}

function checkTuning(machine: Machine, name: string, goal: PathGoal, bdpBytes: number): Finding {
  const [least = 0, preset = 0, most = 0] = readSysctl(machine, name) ?? [];
  const wantedBytes = Math.ceil((bdpBytes * BUFFER_PER_WINDOW) / BYTES_PER_MIB) * BYTES_PER_MIB;
  const reachedMbps = (most / BUFFER_PER_WINDOW / (goal.rttMs / 1000)) * (8 / 1e6);
  const found = `at most ${mib(most)}: about ${Math.round(reachedMbps)} Mbit/s at ${goal.rttMs} ms`;
  if (most >= bdpBytes * BUFFER_PER_WINDOW) return { level: 'ok', what: name, found };
  const change = `sysctl -w ${name}="${least} ${preset} ${wantedBytes}"`;
  return { level: most < bdpBytes ? 'fail' : 'warn', what: name, found, change };
}

/** Only caps from the configuration meet this limit; the kernel's own tuning does not. */
function checkCap(
  machine: Machine,
  name: string,
  option: string,
  configured: readonly (number | undefined)[],
): Finding {
  const [most = 0] = readSysctl(machine, name) ?? [];
  const largest = Math.max(0, ...configured.map((bytes) => bytes ?? 0));
  if (largest === 0) return { level: 'ok', what: name, found: `not needed: no ${option} is configured` };
  const found = `${mib(most)} for a ${option} of up to ${mib(largest)}`;
  if (largest <= most) return { level: 'ok', what: name, found };
  return { level: 'warn', what: name, found, change: `sysctl -w ${name}=${largest}` };
}

/** How many readers that have stalled the kernel's memory for TCP bears. */
export function checkTcpMemory(machine: Machine, sockets: LegTable, transfers: number): Finding {
  const what = 'net.ipv4.tcp_mem';
  const [low = 0, pressure = 0, most = 0] = readSysctl(machine, what) ?? [];
  const receive = readSysctl(machine, 'net.ipv4.tcp_rmem')?.[2] ?? 0;
  const send = readSysctl(machine, 'net.ipv4.tcp_wmem')?.[2] ?? 0;
  // The kernel doubles a cap, for what lies beside the payload; a closed window leaves only what is not sent.
  const ownReceive = (cap: number | undefined) => (cap === undefined ? receive : Math.min(receive, 2 * cap));
  const stalledBytes =
    Math.max(ownReceive(sockets.depot.receiveBufferBytes), ownReceive(sockets.origin.receiveBufferBytes)) +
    Math.min(send, 2 * (sockets.client.sendBufferBytes ?? send), sockets.client.notSentLowatBytes || send);
  const bears = Math.floor((pressure * PAGE_BYTES) / Math.max(1, stalledBytes));
  const found = `${mib(pressure * PAGE_BYTES)}: ${bears} stalled readers of ${transfers} transfers`;
  const wanted = Math.ceil(transfers * STALLED_SHARE);
  if (bears >= wanted) return { level: 'ok', what, found };
  const pages = Math.ceil((wanted * stalledBytes) / PAGE_BYTES);
  const raised = `${Math.max(low, Math.ceil(pages * 0.75))} ${pages} ${Math.max(most, Math.ceil(pages * 1.5))}`;
  const change = `cap receiveBufferBytes of sockets.depot and sockets.origin or, with enough memory, sysctl -w ${what}="${raised}"`;
  return { level: 'warn', what, found, change };
}

function mib(bytes: number): string {
  return `${(bytes / BYTES_PER_MIB).toFixed(1)} MiB`;
}
