import { findProgram } from '../programs/find-program.ts';
import { LabRefusal } from './refusal.ts';

/** Debian's servers stand here, which is not on everybody's PATH. */
const SERVER_FOLDERS = ['/usr/sbin', '/usr/local/sbin'];

/** The programs the lab starts, with the Debian package each comes in and the variant that needs it. */
const PROGRAMS = {
  curl: { debianPackage: 'curl', variant: 'direct' },
  aria2c: { debianPackage: 'aria2', variant: 'aria2-16' },
  haproxy: { debianPackage: 'haproxy', variant: 'haproxy3' },
  nginx: { debianPackage: 'nginx-light', variant: 'nginx3' },
  bird: { debianPackage: 'bird2', variant: undefined },
  exabgp: { debianPackage: 'exabgp', variant: undefined },
  ss: { debianPackage: 'iproute2', variant: undefined },
  wget: { debianPackage: 'wget', variant: undefined },
} as const;

export type LabProgram = keyof typeof PROGRAMS;

/** Whether a program is there, without a refusal. */
export function hasProgram(program: LabProgram): boolean {
  return findProgram(program, SERVER_FOLDERS) !== undefined;
}

/**
 * Finds a program the lab needs.
 * @throws {LabRefusal} `lab-needs-program`, with the command that installs it.
 */
export function requireProgram(program: LabProgram): string {
  const path = findProgram(program, SERVER_FOLDERS);
  if (path !== undefined) return path;
  const { debianPackage, variant } = PROGRAMS[program];
  // Nothing works without curl, so leaving out a variant would be no help.
  const way = variant && program !== 'curl' ? `, or leave the variant ${variant} out with --variants` : '';
  throw new LabRefusal(
    'lab-needs-program',
    `${program} is not installed: apt-get install ${debianPackage}${way}`,
  );
}
