import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { release } from 'node:os';
import { openSocketKernel, SOCKET_OPTIONS, TCP_PROTOCOL } from '../sockets/kernel-options.ts';

/** Size of struct timex on 64-bit Linux is 208. */
const TIMEX_BYTES = 256;
// What adjtimex returns while nothing keeps the clock right.
const TIME_ERROR = 5;

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
  const access = openSocketKernel();
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
      const descriptor = kernel?.open(4, TCP_PROTOCOL) ?? -1;
      if (!kernel || descriptor < 0) return undefined;
      const errno = kernel.setText(descriptor, SOCKET_OPTIONS.congestion, name);
      kernel.close(descriptor);
      return errno === 0;
    },
    isClockSynchronised,
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

/** Whether a time service keeps the clock right, as the kernel was told (adjtimex). */
function isClockSynchronised(): boolean | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    const adjust = koffi.load(null).func('adjtimex', 'int', ['intptr_t']);
    // All zero: nothing is set, only read.
    const timex = new ArrayBuffer(TIMEX_BYTES);
    const state: number = adjust(Number(koffi.address(timex)));
    return state < 0 ? undefined : state !== TIME_ERROR;
  } catch {
    return undefined;
  }
}
