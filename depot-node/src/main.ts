#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { LonghaulError } from '@longhaul/shared';
import { openStateFolder } from '@longhaul/shared/service';
import pino from 'pino';
import { createDepot } from './app.ts';
import { loadDepotFiles } from './config-file.ts';
import { runDoctor } from './doctor/doctor-command.ts';
import { createEventLog } from './event-log.ts';
import { openSplicePlane, type SplicePlane } from './relay/splice-plane.ts';

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
  if (process.argv[2] === 'doctor') {
    process.exitCode = await runDoctor(process.argv.slice(3), {
      write: (text) => process.stdout.write(text),
      nowMs: Date.now,
    });
    return;
  }
  const { values } = parseArgs({ options: { config: { type: 'string' } } });
  if (values.config === undefined)
    throw new Error('say which configuration to use: longhaul-depot --config depot.yaml');
  const files = loadDepotFiles(values.config);
  const { config } = files;
  const splice = await openSplice();
  const depot = createDepot({
    ...files,
    state: openStateFolder(files.stateDir),
    splice,
    observe: createEventLog(log, Date.now),
    nowMs: Date.now,
  });

  let stopping = false;
  const stop = async (graceMs: number) => {
    if (stopping) return;
    stopping = true;
    await depot.close(graceMs);
    await splice?.close();
    process.exit(0);
  };
  process.on('SIGINT', () => void stop(INTERRUPT_GRACE_MS));
  process.on('SIGTERM', () => void stop(config.timeouts.drainSeconds * 1000));
  process.on('disconnect', () => void stop(INTERRUPT_GRACE_MS));

  const { url, membership } = await depot.listen();
  process.send?.({ ready: { url } });
  process.stdout.write(`ready ${JSON.stringify({ id: config.id, url, ...membership })}\n`);
}

/** The kernel's relay, unless it is not wanted; said once when it is not there, since everything works without, slower. */
async function openSplice(): Promise<SplicePlane | undefined> {
  const wanted = process.env.LONGHAUL_RELAY ?? 'splice';
  if (wanted !== 'splice' && wanted !== 'streams')
    throw new Error(`LONGHAUL_RELAY is '${wanted}': set it to streams or splice, or leave it out`);
  if (wanted === 'streams') {
    log.info({ reason: 'LONGHAUL_RELAY asks for it' }, 'relay by streams');
    return undefined;
  }
  const opened = await openSplicePlane({
    onCrash: (cause) => log.error({ err: cause }, 'splice thread died'),
  });
  if (opened.ok) return opened.plane;
  log.warn({ reason: opened.reason }, 'relay by streams');
  return undefined;
}
