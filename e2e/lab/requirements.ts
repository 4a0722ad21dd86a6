import { closeSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { findProgram } from '../programs/find-program.ts';
import { LabRefusal } from './refusal.ts';

const TUN_DEVICE = '/dev/net/tun';
/** Where Linux keeps `ip` although the PATH of some shells leaves these out. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin', '/usr/bin', '/bin'];
/** Bits of the effective capabilities in `/proc/self/status`, from linux/capability.h. */
const NEEDED_CAPABILITIES = { CAP_NET_ADMIN: 12n, CAP_SYS_ADMIN: 21n } as const;

/** Why the lab cannot run here, with what to do about it; undefined when it can. */
export function labObstacle(): LabRefusal | undefined {
  if (process.platform !== 'linux')
    return new LabRefusal('lab-needs-tun', 'The lab needs Linux: run it there, or in a virtual machine.');
  if (process.getuid?.() !== 0)
    return new LabRefusal(
      'lab-needs-root',
      'The lab makes network namespaces and devices: run it as root, for example with sudo.',
    );
  const missing = missingCapabilities();
  if (missing.length > 0)
    return new LabRefusal(
      'lab-needs-root',
      `This root may not make network namespaces: give its container ${missing.join(' and ')}.`,
    );
  if (!canOpenTun())
    return new LabRefusal(
      'lab-needs-tun',
      `${TUN_DEVICE} cannot be opened: run 'modprobe tun', or give the container this device.`,
    );
  if (!findProgramFile('ip'))
    return new LabRefusal('lab-needs-program', "There is no program 'ip': install the package iproute2.");
  if (!findProgramFile('sysctl'))
    return new LabRefusal('lab-needs-program', "There is no program 'sysctl': install the package procps.");
  if (!canLoadKoffi())
    return new LabRefusal(
      'lab-needs-program',
      "The optional package 'koffi' is not installed or has no binary for this machine: run 'npm install' again.",
    );
  return undefined;
}

/** Path of a program on the PATH or in the system's folders. */
export function findProgramFile(name: string): string | undefined {
  return findProgram(name, SYSTEM_FOLDERS);
}

function missingCapabilities(): string[] {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  const bits = BigInt(`0x${effective}`);
  return Object.entries(NEEDED_CAPABILITIES)
    .filter(([, bit]) => ((bits >> bit) & 1n) === 0n)
    .map(([name]) => name);
}

function canOpenTun(): boolean {
  try {
    closeSync(openSync(TUN_DEVICE, 'r+'));
    return true;
  } catch {
    return false;
  }
}

function canLoadKoffi(): boolean {
  try {
    createRequire(import.meta.url)('koffi');
    return true;
  } catch {
    return false;
  }
}
