import { readFileSync } from 'node:fs';
import { release } from 'node:os';
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
}

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
  };
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
