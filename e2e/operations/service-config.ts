import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Service } from './run-service.ts';

/** The least that each service needs; nobody listens at the depot's master. */
const LEAST = {
  depot: { id: 'd1', master: { url: 'http://127.0.0.1:1', enrolmentSecretFile: 'secret' } },
  master: { origins: ['origin.example'] },
} as const;

/** A folder that is gone after the test. */
export function testFolder(onTestFinished: (end: () => void) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-operations-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Writes the least configuration of a service, with changes, and gives the file. It listens on any port of
 * loopback.
 */
export function configOf(service: Service, change: object, folder: string): string {
  writeFileSync(join(folder, 'secret'), 'secret');
  const file = join(folder, `${service}.yaml`);
  const listen = { host: '127.0.0.1', port: 0 };
  writeFileSync(file, stringify({ listen, stateDir: 'state', ...LEAST[service], ...change }));
  return file;
}
