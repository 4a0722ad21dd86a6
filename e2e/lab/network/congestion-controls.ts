import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CongestionControl } from '@longhaul/shared';
import { LabRefusal } from '../refusal.ts';
import { isAnyLabAlive, RUN_FOLDER } from './leftovers.ts';

const AVAILABLE = '/proc/sys/net/ipv4/tcp_available_congestion_control';
/** Of the whole machine; namespaces may choose only from these. Seen in the initial namespace alone. */
const ALLOWED = '/proc/sys/net/ipv4/tcp_allowed_congestion_control';
/** What was allowed before any lab, until the last one has gone. */
const ALLOWED_BEFORE = join(RUN_FOLDER, 'allowed-congestion-controls');

/** Lets namespaces choose these congestion controls. Throws a `LabRefusal` for one that the kernel does not offer. */
export function allowCongestionControls(names: readonly CongestionControl[]): void {
  const available = read(AVAILABLE);
  const missing = names.filter((name) => !available.includes(name));
  if (missing.length > 0)
    throw new LabRefusal(
      'lab-needs-program',
      `This kernel does not offer ${missing.join(', ')}: run '${missing.map((name) => `modprobe tcp_${name}`).join(' && ')}', or use a kernel that has it.`,
    );
  if (!existsSync(ALLOWED)) return;
  const allowed = read(ALLOWED);
  const wanted = [...new Set([...allowed, ...names])];
  if (wanted.length === allowed.length) return;
  if (!existsSync(ALLOWED_BEFORE)) {
    mkdirSync(RUN_FOLDER, { recursive: true, mode: 0o700 });
    writeFileSync(ALLOWED_BEFORE, allowed.join(' '));
  }
  writeFileSync(ALLOWED, wanted.join(' '));
}

/** Puts back what was allowed before, unless a lab lives. */
export function restoreCongestionControls(): void {
  if (isAnyLabAlive() || !existsSync(ALLOWED_BEFORE)) return;
  const after = read(ALLOWED);
  writeFileSync(ALLOWED, read(ALLOWED_BEFORE).join(' '));
  // A lab that came up just now counts on what it has found.
  if (isAnyLabAlive()) writeFileSync(ALLOWED, after.join(' '));
  else rmSync(ALLOWED_BEFORE, { force: true });
}

function read(file: string): string[] {
  return readFileSync(file, 'utf8').trim().split(/\s+/);
}
