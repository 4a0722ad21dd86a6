import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { configOf, testFolder } from './service-config.ts';
import { killAll, processesWith } from './session-processes.ts';

/** A depot that tries its master once a second, which closes every connection: each of them tells that it lives. */
export interface BeatingDepot {
  readonly config: string;
  /** A file for what it says. */
  readonly out: string;
  readonly said: () => string;
  readonly beats: () => number;
}

/** Configures it; it is ended, however it was started, when the test calls back. */
export async function beatingDepot(onTestFinished: (end: () => void) => void): Promise<BeatingDepot> {
  const folder = testFolder(onTestFinished);
  onTestFinished(() => killAll(processesWith(folder)));
  let beats = 0;
  const listener = createServer((socket) => {
    beats += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void listener.close());
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const master = {
    url: `http://127.0.0.1:${port}`,
    enrolmentSecretFile: 'secret',
    heartbeatSeconds: 1,
  };
  const out = join(folder, 'out');
  return {
    config: configOf('depot', { master }, folder),
    out,
    said: () => (existsSync(out) ? readFileSync(out, 'utf8') : ''),
    beats: () => beats,
  };
}
