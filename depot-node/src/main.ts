#!/usr/bin/env node
import { flushCompileCache } from 'node:module';
import { LonghaulError } from '@longhaul/shared';
import {
  CertificateWatch,
  createReload,
  endByHangUps,
  explainFailure,
  lockStateFolder,
  obeySignals,
  openStandardError,
  openStateFolder,
  packageVersion,
  readCommandLine,
  tellSaves,
} from '@longhaul/shared/service';
import pino from 'pino';
import { createDepot } from './app.ts';
import type { DepotConfig } from './config.ts';
import { loadDepotFiles } from './config-file.ts';
import { createEventLog } from './event-log.ts';
import { watchHeap } from './memory/heap-rest.ts';
import { openSplicePlane, type SplicePlane } from './relay/splice-plane.ts';
import { DOCTOR_USAGE, USAGE } from './usage.ts';

/** An interrupt from the terminal ends the depot at once; a terminate lets transfers finish. */
const INTERRUPT_GRACE_MS = 1000;

const log = pino({ name: 'longhaul-depot', base: null }, openStandardError());

const [command, ...rest] = process.argv.slice(2);
const isDoctor = command === 'doctor';
const [program, usage] = isDoctor ? ['longhaul-depot doctor', DOCTOR_USAGE] : ['longhaul-depot', USAGE];
const version = packageVersion(new URL('../package.json', import.meta.url));

try {
  if (isDoctor) {
    endByHangUps();
    const { runDoctor } = await import('./doctor/doctor-command.ts');
    process.exitCode = await runDoctor(rest, { write, version, nowMs: Date.now });
  } else if (command === 'join' || command === 'rotate-key') {
    endByHangUps();
    const { runJoin, runRotateKey } = await import('./join/enrol-command.ts');
    const run = command === 'join' ? runJoin : runRotateKey;
    if (!(await run(rest, { write, stdin: process.stdin, nowMs: Date.now }))) write(USAGE);
  } else await main();
} catch (failure) {
  const explained = explainFailure(program, usage, failure);
  if (explained) process.stderr.write(explained.text);
  else log.fatal({ err: failure }, 'could not start');
  process.exit(explained?.exitCode ?? 1);
}

async function main(): Promise<void> {
  const asked = readCommandLine(process.argv.slice(2), ['config'], ['config']);
  if (asked.kind === 'help') write(USAGE);
  else if (asked.kind === 'version') write(`longhaul-depot ${version}\n`);
  else await serve(asked.values.config);
}

async function serve(configFile: string): Promise<void> {
  const read = (running?: { readonly config: DepotConfig }) => {
    const files = loadDepotFiles(configFile, running?.config);
    const { tls, groupTls, trustedAuthorities, enrolmentSecret } = files;
    const material = {
      tls,
      'entryGroup.tls': groupTls,
      trustedCaFiles: trustedAuthorities,
      'master.enrolmentSecretFile': enrolmentSecret,
    };
    return { files, config: files.config, material };
  };
  const started = read();
  const { config, files } = started;
  const certificates = new CertificateWatch(started.material, Date.now, log);
  const state = openStateFolder(files.stateDir, tellSaves(log));
  lockStateFolder(files.stateDir);
  const { splice, tell } = await openSplice(config.relay);
  const depot = createDepot({
    ...files,
    state,
    splice,
    certificateSecondsLeft: certificates.secondsLeft,
    observe: createEventLog(log, Date.now),
    nowMs: Date.now,
  });
  const answerHangUps = obeySignals({
    graceMs: { drain: config.timeouts.drainSeconds * 1000, soon: INTERRUPT_GRACE_MS, now: 0 },
    close: async (graceMs) => {
      await depot.close(graceMs);
      await splice?.close();
    },
    reload: createReload({
      started,
      read,
      take: ({ material }) => {
        depot.renew({
          tls: material.tls,
          groupTls: material['entryGroup.tls'],
          trustedAuthorities: material.trustedCaFiles,
          enrolmentSecret: material['master.enrolmentSecretFile'],
        });
        certificates.take(material);
        return [];
      },
      nowMs: Date.now,
      log,
    }),
    log,
  });

  const { url, membership } = await depot.listen();
  answerHangUps();
  certificates.start();
  tell();
  watchHeap(
    () => depot.transfers() > 0,
    () => splice?.rest(),
  );
  process.send?.({ ready: { url } });
  process.stdout.write(`ready ${JSON.stringify({ id: config.id, url, ...membership })}\n`);
  flushCompileCache();
}

/**
 * What moves bytes and ends TLS. A depot works without either, slower, so how it does is told once when it
 * has started.
 */
interface OpenedRelay {
  readonly splice: SplicePlane | undefined;
  readonly tell: () => void;
}

/** The kernel's relay, unless it is not wanted or not to be had. */
async function openSplice({ threads, tls }: DepotConfig['relay']): Promise<OpenedRelay> {
  const wanted = process.env.LONGHAUL_RELAY ?? 'splice';
  if (wanted !== 'splice' && wanted !== 'streams')
    throw new LonghaulError('config-invalid', {
      detail: `LONGHAUL_RELAY is '${wanted}': set it to streams or splice, or leave it out`,
    });
  if (wanted === 'streams') {
    const reason = 'LONGHAUL_RELAY asks for it';
    return { splice: undefined, tell: () => log.info({ reason }, 'relay by streams') };
  }
  const opened = await openSplicePlane({
    threads,
    tls,
    onCrash: (cause) => log.error({ err: cause }, 'relay thread died'),
  });
  if (!opened.ok)
    return { splice: undefined, tell: () => log.warn({ reason: opened.reason }, 'relay by streams') };
  const { plane } = opened;
  return {
    splice: plane,
    tell: () => {
      if (!('reason' in plane.tls)) log.info('TLS by the relay threads');
      else if (tls === 'node') log.info({ reason: 'relay.tls asks for it' }, 'TLS by Node');
      else log.warn({ reason: plane.tls.reason }, 'TLS by Node');
    },
  };
}

function write(text: string): void {
  process.stdout.write(text);
}
