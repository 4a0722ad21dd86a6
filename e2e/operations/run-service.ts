import { join } from 'node:path';
import { type ProgramResult, runProgram } from '../fixtures/run-program.ts';

const root = join(import.meta.dirname, '..', '..');

/** The two services: how they are called, and where they start. */
export const SERVICES = {
  depot: { name: 'longhaul-depot', main: join(root, 'depot-node', 'src', 'main.ts') },
  master: { name: 'longhaul-master', main: join(root, 'master-service', 'src', 'main.ts') },
} as const;
export type Service = keyof typeof SERVICES;

/** Runs a service by `node main.ts` to its end, possibly under another account. */
export function runService(
  service: Service,
  args: readonly string[],
  cwd: string,
  account: { readonly uid?: number; readonly gid?: number } = {},
): Promise<ProgramResult> {
  return runProgram(process.execPath, [SERVICES[service].main, ...args], cwd, account);
}
