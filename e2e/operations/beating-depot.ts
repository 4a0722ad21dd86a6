import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configOf, testFolder } from './service-config.ts';
import { killAll, processesWith } from './session-processes.ts';

/** A depot that tries its master once a second in vain: its log tells that time passes. */
export interface BeatingDepot {
  readonly config: string;
  /** A file for what it says. */
  readonly out: string;
  readonly said: () => string;
  readonly beats: () => number;
}

/** Configures it; it is ended, however it was started, when the test calls back. */
export function beatingDepot(onTestFinished: (end: () => void) => void): BeatingDepot {
  const folder = testFolder(onTestFinished);
  onTestFinished(() => killAll(processesWith(folder)));
  const master = { url: 'http://127.0.0.1:1', enrolmentSecretFile: 'secret', heartbeatSeconds: 1 };
  const out = join(folder, 'out');
  const said = () => (existsSync(out) ? readFileSync(out, 'utf8') : '');
  return {
    config: configOf('depot', { master }, folder),
    out,
    said,
    beats: () => said().match(/"msg":"master-lost"/g)?.length ?? 0,
  };
}
