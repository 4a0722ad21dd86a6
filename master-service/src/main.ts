#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { asLonghaulError, ERRORS, LonghaulError } from '@longhaul/shared';
import { openStateFolder, readConfigFile, readNamedFiles, Seldom } from '@longhaul/shared/service';
import { type Logger, pino } from 'pino';
import { createMaster } from './app.ts';
import { readMasterConfig } from './config.ts';
import { FileDepotStore } from './depots/depot-store.ts';
import type { MasterEvent } from './events.ts';
import { loadMasterKeys } from './keys/key-files.ts';

const USAGE = 'Usage: longhaul-master --config <file.yaml>';
/** Warnings that somebody else can cause are written this often, with the number of those between. */
const WARNING_INTERVAL_MS = 60_000;
/** Past this a shutdown is not waited for. */
const SHUTDOWN_LIMIT_MS = 1400;

await main();

async function main(): Promise<void> {
  // Synchronous, so that nothing is lost when the process exits.
  const log = pino({ name: 'longhaul-master', base: null }, pino.destination({ fd: 2, sync: true }));
  try {
    await start(log);
  } catch (thrown) {
    const error = asLonghaulError(thrown);
    if (error.code === 'internal') log.fatal({ err: thrown }, 'could not start');
    else process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    if (process.connected) process.disconnect();
  }
}

async function start(log: Logger): Promise<void> {
  const { config, baseDir } = readConfigFile(configArgument(), readMasterConfig);
  const tls = readNamedFiles(baseDir, (files) => files.tls('tls', config.tls));
  const state = openStateFolder(resolve(baseDir, config.stateDir));
  const packageJson: unknown = JSON.parse(
    await readFile(new URL('../package.json', import.meta.url), 'utf8'),
  );
  const master = createMaster({
    config,
    ...loadMasterKeys(state),
    depotStore: new FileDepotStore(state),
    ...(tls ? { tls } : {}),
    webDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    version: versionOf(packageJson),
    now: Date.now,
    onEvent: eventLogger(log),
  });
  const { url } = await master.listen();
  stopOnRequest(() => master.close());
  process.stdout.write(`ready ${JSON.stringify({ url })}\n`);
  process.send?.({ ready: { url } });
}

function configArgument(): string {
  try {
    const { values } = parseArgs({ options: { config: { type: 'string' } } });
    if (values.config) return values.config;
  } catch (cause) {
    throw new LonghaulError('config-invalid', { detail: USAGE, cause });
  }
  throw new LonghaulError('config-invalid', { detail: USAGE });
}

function versionOf(packageJson: unknown): string {
  const found = typeof packageJson === 'object' && packageJson !== null && 'version' in packageJson;
  return found ? String(packageJson.version) : 'unknown';
}

function stopOnRequest(close: () => Promise<void>): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(0), SHUTDOWN_LIMIT_MS).unref();
    void close().then(() => process.exit(0));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  if (process.channel) process.on('disconnect', stop);
}

/** Writes events for people; of those that others can cause, one of a kind each minute. */
function eventLogger(log: Logger): (event: MasterEvent) => void {
  const seldom = new Seldom(WARNING_INTERVAL_MS, Date.now);
  const warn = (kind: string, fields: object, message: string) => {
    const heldBack = seldom.take(kind);
    if (heldBack !== undefined) log.warn(heldBack > 0 ? { ...fields, heldBack } : fields, message);
  };
  return (event) => {
    const { type, ...fields } = event;
    if (event.type === 'failed') log.error({ err: event.error }, 'request failed');
    else if (event.type === 'depot-registered') log.info(fields, 'depot registered');
    else if (event.type === 'depot-proved' && !event.isRenewed) log.info(fields, 'depot proved its address');
    else if (event.type === 'depot-not-proved')
      warn(`${type} ${event.depot}`, fields, 'depot did not prove its address');
    else if (event.type === 'depot-twice')
      warn(`${type} ${event.depot}`, fields, ERRORS['depot-twice'].message);
    // A depot that is not known registers at once.
    else if (event.type === 'depot-refused' && event.code !== 'depot-unknown')
      warn(`${type} ${event.code}`, fields, `depot refused: ${ERRORS[event.code].message}`);
    else if (event.type === 'connection-refused')
      warn(`${type} ${event.bound}`, fields, ERRORS['too-many-connections'].message);
    // One line for each download would cost more than the answer itself; counters have them.
    else log.debug(event);
  };
}
