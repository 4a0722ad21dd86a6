import { CONGESTION_CONTROLS, isCongestionControl } from '@longhaul/shared';
import { type LegTable, SYSTEM_CONGESTION_CONTROL } from '../sockets/leg-options.ts';
import type { Finding } from './finding.ts';
import { type Machine, readSysctl, readSysctlWords } from './machine.ts';

/** 4.19 is the first to count retransmitted bytes; all else that a depot uses is older. */
const OLDEST_KERNEL = [4, 19] as const;
/** From 5.6 on Linux speaks multipath TCP. */
const OLDEST_MPTCP = [5, 6] as const;
/** From 4.13 on TCP paces by itself where the queue does not. */
const OLDEST_PACING = [4, 13] as const;

/** System and version, and whether Node can make calls of the kernel. */
export function checkKernel(machine: Machine): Finding[] {
  const what = 'kernel';
  if (machine.platform !== 'linux') {
    const found = `${machine.platform}: bytes go through Node's streams, sockets have Node's options`;
    return [{ level: 'warn', what, found, change: 'run the depot on Linux' }];
  }
  const found = `Linux ${machine.kernelRelease}`;
  const isOld = !isAtLeast(machine, OLDEST_KERNEL);
  const version: Finding = isOld
    ? { level: 'warn', what, found, change: `use Linux ${OLDEST_KERNEL.join('.')} or newer` }
    : { level: 'ok', what, found };
  const reason = machine.kernelCallsMissing;
  const calls: Finding =
    reason === undefined
      ? { level: 'ok', what: 'koffi', found: 'loads: splice and socket options work' }
      : {
          level: 'warn',
          what: 'koffi',
          found: `${reason}: bytes go through Node's streams, sockets have Node's options`,
          change: 'npm ci without --omit=optional; libstdc++ and libgcc_s must be installed',
        };
  return [version, calls];
}

/** Whether the kernel offers and permits each congestion control that is configured. */
export function checkCongestionControls(machine: Machine, sockets: LegTable): Finding[] {
  const offered = readSysctlWords(machine, 'net.ipv4.tcp_available_congestion_control');
  const permitted = readSysctlWords(machine, 'net.ipv4.tcp_allowed_congestion_control');
  const [system = 'unknown'] = readSysctlWords(machine, 'net.ipv4.tcp_congestion_control');
  const names = new Set(Object.values(sockets).map((leg) => leg.congestionControl));
  return [...names].map((name): Finding => {
    const legs = Object.entries(sockets).filter(([, leg]) => leg.congestionControl === name);
    const what = `congestion control of ${legs.map(([legClass]) => legClass).join(', ')}`;
    if (name === SYSTEM_CONGESTION_CONTROL) return { level: 'ok', what, found: `the system's: ${system}` };
    const isTaken = machine.takesCongestionControl(name);
    if (permitted.includes(name) && isTaken !== false) return { level: 'ok', what, found: name };
    const permit = `sysctl -w net.ipv4.tcp_allowed_congestion_control="${[...permitted, name].join(' ')}"`;
    if (isTaken) return { level: 'warn', what, found: `${name} is permitted to root only`, change: permit };
    if (offered.includes(name)) {
      return { level: 'warn', what, found: `${name} is not permitted; ${system} is used`, change: permit };
    }
    const found = `${name} is not offered (${offered.join(' ')}); ${system} is used`;
    return { level: 'warn', what, found, change: `modprobe tcp_${name} && ${permit}` };
  });
}

/** Whether something spaces out the packets of a sender that wants it. */
export function checkPacing(machine: Machine, sockets: LegTable): Finding {
  const what = 'pacing';
  const legs = Object.values(sockets);
  const isWanted = legs.some((leg) => isPaced(leg.congestionControl) || leg.maxPacingBps !== undefined);
  const [queue = 'unknown'] = readSysctlWords(machine, 'net.core.default_qdisc');
  if (!isWanted) return { level: 'ok', what, found: 'not asked for' };
  if (queue === 'fq') return { level: 'ok', what, found: 'by the queue fq' };
  if (isAtLeast(machine, OLDEST_PACING)) {
    return { level: 'ok', what, found: `by TCP itself (default queue ${queue})` };
  }
  const change = 'sysctl -w net.core.default_qdisc=fq, then set up the interface anew';
  return { level: 'fail', what, found: `nothing paces: default queue ${queue}`, change };
}

/** Multipath TCP, where depots shall speak it. */
export function checkMptcp(machine: Machine, sockets: LegTable): Finding {
  const what = 'multipath TCP';
  const enabled = readSysctl(machine, 'net.mptcp.enabled')?.[0];
  const offer = enabled === undefined ? 'the kernel lacks it' : enabled === 1 ? 'on' : 'off';
  if (!sockets.depot.mptcp) return { level: 'ok', what, found: `${offer}; not asked for` };
  if (enabled === 1) return { level: 'ok', what, found: offer };
  const change =
    enabled === undefined
      ? `use Linux ${OLDEST_MPTCP.join('.')} or newer with CONFIG_MPTCP, or leave out sockets.depot.mptcp`
      : 'sysctl -w net.mptcp.enabled=1';
  return { level: 'fail', what, found: `${offer}; depot legs use plain TCP`, change };
}

/** Settings of TCP without which no long way is filled. */
export function checkTcpSwitches(machine: Machine): Finding[] {
  return SWITCHES.map(({ name, wanted, level, why }): Finding => {
    const value = readSysctl(machine, name)?.[0];
    if (value === undefined || value === wanted) return { level: 'ok', what: name, found: String(wanted) };
    return { level, what: name, found: `${value}: ${why}`, change: `sysctl -w ${name}=${wanted}` };
  });
}

const SWITCHES = [
  {
    name: 'net.ipv4.tcp_window_scaling',
    wanted: 1,
    level: 'fail',
    why: 'no connection has more than 64 KiB under way',
  },
  {
    name: 'net.ipv4.tcp_sack',
    wanted: 1,
    level: 'warn',
    why: 'several losses in a round trip stop a sender',
  },
  {
    name: 'net.ipv4.tcp_slow_start_after_idle',
    wanted: 0,
    level: 'warn',
    why: 'a connection that was kept begins slowly again',
  },
] as const;

function isPaced(control: string): boolean {
  return isCongestionControl(control) && CONGESTION_CONTROLS[control].isPaced;
}

function isAtLeast({ kernelRelease }: Machine, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = kernelRelease.split('.').map((part) => Number.parseInt(part, 10));
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}
