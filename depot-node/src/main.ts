#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { LonghaulError } from '@longhaul/shared';
import pino from 'pino';
import { createDepot } from './app.ts';
import { loadDepotFiles } from './config-file.ts';
import type { DepotEvent } from './events.ts';
import { openStateFolder } from './state-folder.ts';

/** An interrupt from the terminal ends the depot at once; a terminate lets transfers finish. */
const INTERRUPT_GRACE_MS = 1000;

const log = pino({ name: 'longhaul-depot', base: null }, pino.destination(2));

try {
  await main();
} catch (failure) {
  const isConfig = failure instanceof LonghaulError && failure.code === 'config-invalid';
  process.stderr.write(`longhaul-depot: ${isConfig ? failure.message : String(failure)}\n`);
  process.exit(1);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { config: { type: 'string' } } });
  if (values.config === undefined)
    throw new Error('say which configuration to use: longhaul-depot --config depot.yaml');
  const files = loadDepotFiles(values.config);
  const { config } = files;
  const depot = createDepot({
    ...files,
    state: openStateFolder(files.stateDir),
    observe: logEvent,
    nowMs: Date.now,
  });

  let stopping = false;
  const stop = async (graceMs: number) => {
    if (stopping) return;
    stopping = true;
    await depot.close(graceMs);
    process.exit(0);
  };
  process.on('SIGINT', () => void stop(INTERRUPT_GRACE_MS));
  process.on('SIGTERM', () => void stop(config.timeouts.drainSeconds * 1000));
  process.on('disconnect', () => void stop(INTERRUPT_GRACE_MS));

  const { url } = await depot.listen();
  process.send?.({ ready: { url } });
  process.stdout.write(`ready ${JSON.stringify({ id: config.id, url })}\n`);
}

function logEvent(event: DepotEvent): void {
  const { type, ...fields } = event;
  if (type === 'directory') log.debug(fields, type);
  else if (type === 'transfer' || type === 'tunnel') log.info(fields, type);
  else log.warn(fields, type);
}
