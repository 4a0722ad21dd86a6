#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { asLonghaulError, LonghaulError } from '@longhaul/shared';
import { type Logger, pino } from 'pino';
import { parse } from 'yaml';
import { createMaster } from './app.ts';
import { type MasterConfig, readMasterConfig } from './config.ts';
import { FileDepotStore } from './depots/depot-store.ts';
import type { MasterEvent } from './events.ts';
import type { TlsFiles } from './http/http-server.ts';
import { loadMasterKeys } from './keys/key-files.ts';

const USAGE = 'Usage: longhaul-master --config <file.yaml>';
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
  const { config, baseDir } = await readConfigFile();
  const stateDir = resolve(baseDir, config.stateDir);
  const tls = await readTlsFiles(config, baseDir);
  const packageJson: unknown = JSON.parse(
    await readFile(new URL('../package.json', import.meta.url), 'utf8'),
  );
  const master = createMaster({
    config,
    ...(await loadMasterKeys(stateDir)),
    depotStore: new FileDepotStore(stateDir),
    ...(tls ? { tls } : {}),
    webDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    version: versionOf(packageJson),
    now: Date.now,
    onEvent: (event) => logEvent(log, event),
  });
  const { url } = await master.listen();
  stopOnRequest(() => master.close());
  process.stdout.write(`ready ${JSON.stringify({ url })}\n`);
  process.send?.({ ready: { url } });
}

/** Paths in the file are relative to the file. */
async function readConfigFile(): Promise<{ config: MasterConfig; baseDir: string }> {
  const file = configArgument();
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new LonghaulError('config-invalid', { detail: `${file} cannot be read`, cause });
  }
  return { config: readMasterConfig(parseYaml(text, file)), baseDir: dirname(resolve(file)) };
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

function parseYaml(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LonghaulError('config-invalid', { detail: `${file} is not YAML: ${reason}`, cause });
  }
}

async function readTlsFiles({ tls }: MasterConfig, baseDir: string): Promise<TlsFiles | undefined> {
  if (!tls) return undefined;
  try {
    const [cert, key] = await Promise.all([
      readFile(resolve(baseDir, tls.certFile), 'utf8'),
      readFile(resolve(baseDir, tls.keyFile), 'utf8'),
    ]);
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LonghaulError('config-invalid', { detail: `tls: ${reason}`, cause });
  }
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

function logEvent(log: Logger, event: MasterEvent): void {
  if (event.type === 'failed') log.error({ err: event.error }, 'request failed');
  else if (event.type === 'depot-registered') log.info({ depot: event.depot }, 'depot registered');
  // One line for each download would cost more than the answer itself; counters have them.
  else log.debug(event);
}
