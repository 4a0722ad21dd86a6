#!/usr/bin/env node
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ERRORS, LonghaulError } from '@longhaul/shared';
import {
  authorityOf,
  CertificateWatch,
  createReload,
  explainFailure,
  lockStateFolder,
  obeySignals,
  openStandardError,
  openStateFolder,
  packageVersion,
  readCommandLine,
  readConfigFile,
  readNamedFiles,
  Seldom,
  tellSaves,
} from '@longhaul/shared/service';
import { type Logger, pino } from 'pino';
import { createMaster } from './app.ts';
import { readMasterConfig } from './config.ts';
import { FileDepotStore } from './depots/depot-store.ts';
import { isEnrolmentCommand, runEnrolment } from './enrolment/enrolment-command.ts';
import { FileEnrolmentStore } from './enrolment/enrolment-store.ts';
import type { MasterEvent } from './events.ts';
import { FactsFile } from './facts/facts-file.ts';
import { loadMasterKeys } from './keys/key-files.ts';
import { USAGE } from './usage.ts';

/** Warnings that somebody else can cause are written this often, with the number of those between. */
const WARNING_INTERVAL_MS = 60_000;
/** A master's answers are short: none of them is worth a longer wait. */
const GRACE_MS = 1000;

await main();

async function main(): Promise<void> {
  const log = pino({ name: 'longhaul-master', base: null }, openStandardError());
  const version = packageVersion(new URL('../package.json', import.meta.url));
  try {
    const [command, ...rest] = process.argv.slice(2);
    if (isEnrolmentCommand(command)) {
      if (!(await runEnrolment(command, rest, (text) => process.stdout.write(text))))
        process.stdout.write(USAGE);
      return;
    }
    const asked = readCommandLine(process.argv.slice(2), ['config'], ['config']);
    if (asked.kind === 'help') process.stdout.write(USAGE);
    else if (asked.kind === 'version') process.stdout.write(`longhaul-master ${version}\n`);
    else await serve(asked.values.config, version, log);
  } catch (failure) {
    const explained = explainFailure('longhaul-master', USAGE, failure);
    if (explained) process.stderr.write(explained.text);
    else log.fatal({ err: failure }, 'could not start');
    process.exitCode = explained?.exitCode ?? 1;
    if (process.connected) process.disconnect();
  }
}

async function serve(configFile: string, version: string, log: Logger): Promise<void> {
  const read = () => {
    const { config, baseDir } = readConfigFile(configFile, readMasterConfig);
    const { prefixes, bus, publicUrl } = config;
    const publicHost = publicUrl?.startsWith('https:') ? authorityOf(publicUrl).host : undefined;
    const { tls, authorities, busTls, busAuthorities } = readNamedFiles(baseDir, (files) => ({
      tls: files.tls('tls', config.tls, publicHost),
      authorities: files.authorities('trustedCaFiles', config.trustedCaFiles),
      busTls: files.tls('bus.tls', bus?.tls),
      busAuthorities: files.authorities('bus.trustedCaFiles', bus?.trustedCaFiles ?? []),
    }));
    const inFolder = (path: string | undefined) => (path === undefined ? undefined : resolve(baseDir, path));
    const prefixPaths = {
      coverage: inFolder(prefixes.coverageFile),
      asTable: inFolder(prefixes.asTableFile),
    };
    const material = {
      tls,
      trustedCaFiles: authorities,
      prefixes,
      'bus.tls': busTls,
      'bus.trustedCaFiles': busAuthorities,
    };
    return {
      config,
      stateDir: resolve(baseDir, config.stateDir),
      prefixPaths,
      material,
      busTls: busTls && { ...busTls, authorities: busAuthorities },
    };
  };
  const started = read();
  const { config, stateDir, prefixPaths, material, busTls } = started;
  const certificates = new CertificateWatch(material, Date.now, log);
  const state = openStateFolder(stateDir, tellSaves(log));
  lockStateFolder(stateDir);
  const master = createMaster({
    config,
    ...loadMasterKeys(state),
    keyFolder: state,
    depotStore: new FileDepotStore(state),
    enrolmentStore: new FileEnrolmentStore(state),
    factsFile: new FactsFile(state),
    ...(material.tls ? { tls: material.tls } : {}),
    authorities: material.trustedCaFiles,
    ...(busTls ? { busTls } : {}),
    prefixPaths,
    certificateSecondsLeft: certificates.secondsLeft,
    webDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    version,
    now: Date.now,
    onEvent: eventLogger(log),
  });
  const take = (next: ReturnType<typeof read>) => {
    if (next.material.tls) master.renewCertificate(next.material.tls);
    master.renewAuthorities(next.material.trustedCaFiles);
    if (next.busTls) master.renewBusCertificate(next.busTls);
    certificates.take(next.material);
    const isFile = Object.values(next.prefixPaths).some((path) => path !== undefined);
    void master.reloadPrefixes(next.config.prefixes, next.prefixPaths).then((isTaken) => {
      if (!isTaken) log.error('prefixes not taken: files with mistakes, and the site, stay as they were');
      else if (isFile) log.info('prefixes taken');
    });
    // What no file is named for is taken at once.
    return isFile ? ['prefixes'] : [];
  };
  obeySignals({
    graceMs: {
      get drain() {
        return master.drainMs() + GRACE_MS;
      },
      soon: GRACE_MS,
      now: 0,
    },
    close: (graceMs) => master.close(graceMs - GRACE_MS),
    reload: createReload({ started, read, take, nowMs: Date.now, log }),
    log,
  });
  const { url } = await master.listen();
  certificates.start();
  process.stdout.write(`ready ${JSON.stringify({ url })}\n`);
  process.send?.({ ready: { url } });
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
    if (event.type === 'failed') {
      // The state folder itself tells this once, without a stack that says nothing of a disk.
      if (!isOfState(event.error)) log.error({ err: event.error }, 'request failed');
    } else if (event.type === 'enrolment') log.info(fields, `enrolment: ${event.what}`);
    else if (event.type === 'depot-registered') log.info(fields, 'depot registered');
    else if (event.type === 'depot-proved' && !event.isRenewed) log.info(fields, 'depot proved its address');
    else if (event.type === 'depot-not-proved')
      warn(`${type} ${event.depot}`, fields, 'depot did not prove its address');
    else if (event.type === 'depot-down') log.warn(fields, 'depot is not there any more');
    else if (event.type === 'depot-unreached')
      warn(type, fields, 'depot cannot connect to another one that is there');
    else if (event.type === 'depot-twice')
      warn(`${type} ${event.depot}`, fields, ERRORS['depot-twice'].message);
    else if (event.type === 'depot-trust')
      log.warn(
        fields,
        event.isTrusted
          ? 'depot agrees with its neighbours again'
          : 'depot is contradicted by its neighbours',
      );
    else if (event.type === 'keys-published') log.info(fields, 'keys published');
    else if (event.type === 'facts-restored') log.info(fields, 'facts restored');
    else if (event.type === 'bus-connected') log.info(fields, 'connected with other masters');
    else if (event.type === 'bus-failed')
      // One that says more is not held back for one that says less.
      warn(`${type} ${event.code} ${event.detail !== undefined}`, fields, ERRORS[event.code].message);
    else if (event.type === 'clock-doubted')
      log.warn(fields, 'the clock was set: the time before goes on until most depots say otherwise');
    else if (event.type === 'clock-set') log.warn(fields, 'the time was set');
    else if (event.type === 'facts-refused')
      warn(`${type} ${event.code} ${event.from}`, fields, ERRORS[event.code].message);
    // A depot that is not known registers at once.
    else if (event.type === 'depot-refused' && event.code !== 'depot-unknown')
      warn(`${type} ${event.code}`, fields, `depot refused: ${ERRORS[event.code].message}`);
    else if (event.type === 'connection-refused')
      warn(`${type} ${event.bound}`, fields, ERRORS['too-many-connections'].message);
    else if (event.type === 'prefixes-loaded') log.info(fields, 'prefixes loaded');
    else if (event.type === 'prefixes-refused')
      log.error(fields, `prefixes not loaded: ${ERRORS[event.code].message}`);
    // One line for each download would cost more than the answer itself; counters have them.
    else log.debug(event);
  };
}

function isOfState(error: unknown): boolean {
  return error instanceof LonghaulError && error.code === 'state-unusable';
}
