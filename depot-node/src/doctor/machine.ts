import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import type { AddressFamily } from '@longhaul/shared';
import { SOCKET, SOCKET_OPTIONS } from '../kernel/linux-constants.ts';
import { openKernel } from '../kernel/open-kernel.ts';

/** The machine as the checks see it; tests put another one in its place. */
export interface Machine {
  readonly platform: string;
  /** For example 6.12.9-generic. */
  readonly kernelRelease: string;
  /** Whether limits of unprivileged users count. */
  readonly isPrivileged: boolean;
  /** A file of /proc or /sys; `undefined` where there is none. */
  readonly readText: (path: string) => string | undefined;
  /** Why calls of the kernel are impossible; `undefined` when they work. */
  readonly kernelCallsMissing: string | undefined;
  /** Whether a socket takes a congestion control; `undefined` where that cannot be tried. */
  readonly takesCongestionControl: (name: string) => boolean | undefined;
  /** Whether the kernel knows its clock to be synchronised; `undefined` where it cannot be asked. */
  readonly isClockSynchronised: () => boolean | undefined;
  /** Whether there is a route to the internet by a family, from an address that is heard there. */
  readonly hasWayOut: (family: AddressFamily) => Promise<boolean>;
}

/** Somewhere on the internet (a root name server): only the kernel is asked for a route there. */
const FAR_AWAY = { IPv4: '198.41.0.4', IPv6: '2001:503:ba3e::2:30' } as const;
const FAR_PORT = 53;
/** From these nobody answers beyond the next link. */
const OF_THE_LINK = /^(fe[89ab]|::1?$|127\.|0\.|169\.254\.)/;

/** The machine this process runs on. */
export function openMachine(): Machine {
  const access = openKernel();
  const { kernel } = access;
  return {
    platform: process.platform,
    kernelRelease: release(),
    isPrivileged: process.geteuid?.() === 0,
    readText: (path) => {
      try {
        return readFileSync(path, 'utf8');
      } catch {
        return undefined;
      }
    },
    kernelCallsMissing: access.kernel ? undefined : access.reason,
    takesCongestionControl: (name) => {
      const descriptor = kernel?.openSocket(4, SOCKET.tcp) ?? -1;
      if (!kernel || descriptor < 0) return undefined;
      const errno = kernel.setText(descriptor, SOCKET_OPTIONS.congestion, name);
      kernel.close(descriptor);
      return errno === 0;
    },
    isClockSynchronised: () => kernel?.isClockSynchronised(),
    hasWayOut,
  };
}

/** Connects a datagram socket, which sends nothing: the kernel looks for a route, and for an address of its own. */
async function hasWayOut(family: AddressFamily): Promise<boolean> {
  const socket = createSocket(family === 'IPv4' ? 'udp4' : 'udp6');
  try {
    const connected = once(socket, 'connect');
    socket.connect(FAR_PORT, FAR_AWAY[family]);
    await connected;
    return !OF_THE_LINK.test(socket.address().address);
  } catch {
    return false;
  } finally {
    socket.close();
  }
}

/** The numbers of a sysctl; `undefined` where the kernel does not have it. */
export function readSysctl(machine: Machine, name: string): readonly number[] | undefined {
  const text = machine.readText(`/proc/sys/${name.replaceAll('.', '/')}`);
  return text?.trim().split(/\s+/).map(Number);
}

/** The words of a sysctl. */
export function readSysctlWords(machine: Machine, name: string): readonly string[] {
  const text = machine.readText(`/proc/sys/${name.replaceAll('.', '/')}`)?.trim() ?? '';
  return text === '' ? [] : text.split(/\s+/);
}
