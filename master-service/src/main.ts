#!/usr/bin/env node
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LonghaulError } from '@longhaul/shared';
import {
  authorityOf,
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
  readConfigFile,
  readNamedFiles,
  type TlsMaterial,
  tellSaves,
} from '@longhaul/shared/service';
import { type Logger, pino } from 'pino';
import { createMaster } from './app.ts';
import type { NatsTls } from './bus/nats-connection.ts';
import { type MasterConfig, readMasterConfig } from './config.ts';
import { FileDepotStore } from './depots/depot-store.ts';
import { isEnrolmentCommand, runEnrolment } from './enrolment/enrolment-command.ts';
import { FileEnrolmentStore } from './enrolment/enrolment-store.ts';
import { createEventLog } from './event-log.ts';
import { FactsFile } from './facts/facts-file.ts';
import { loadMasterKeys } from './keys/key-files.ts';
import { USAGE } from './usage.ts';

/** A master's answers are short: none of them is worth a longer wait. */
const GRACE_MS = 1000;

await main();

async function main(): Promise<void> {
  const log = pino({ name: 'longhaul-master', base: null }, openStandardError());
  const version = packageVersion(new URL('../package.json', import.meta.url));
  try {
    const [command, ...rest] = process.argv.slice(2);
    if (isEnrolmentCommand(command)) {
      endByHangUps();
      if (!(await runEnrolment(command, rest, (text) => process.stdout.write(text))))
        process.stdout.write(USAGE);
      return;
    }
    const asked = readCommandLine(process.argv.slice(2), ['config'], ['config']);
    if (asked.kind === 'help') process.stdout.write(USAGE);
    else if (asked.kind === 'version') process.stdout.write(`longhaul-master ${version}\n`);
    else await serve(asked.values.config, version, log);
  } catch (failure) {
    // A signal came before it was ready, and ends the process.
    if (failure instanceof LonghaulError && failure.code === 'shutting-down') return;
    const explained = explainFailure('longhaul-master', USAGE, failure);
    if (explained) process.stderr.write(explained.text);
    else log.fatal({ err: failure }, 'could not start');
    process.exitCode = explained?.exitCode ?? 1;
    if (process.connected) process.disconnect();
  }
}

async function serve(configFile: string, version: string, log: Logger): Promise<void> {
  // Of a master that runs already the certificate must be for the name that it has started with.
  const read = (running?: { readonly config: MasterConfig }) => {
    const { config, baseDir } = readConfigFile(configFile, readMasterConfig);
    const { prefixes, bus } = config;
    const { publicUrl } = (running ?? { config }).config;
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
    };
  };
  const started = read();
  const { config, stateDir, prefixPaths, material } = started;
  const busTls = busTlsOf(material);
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
    onEvent: createEventLog(log, Date.now),
  });
  const take = (next: ReturnType<typeof read>) => {
    if (next.material.tls) master.renewCertificate(next.material.tls);
    master.renewAuthorities(next.material.trustedCaFiles);
    const renewed = busTlsOf(next.material);
    if (renewed) master.renewBusCertificate(renewed);
    certificates.take(next.material);
    const isFile = Object.values(next.prefixPaths).some((path) => path !== undefined);
    void master.reloadPrefixes(next.config.prefixes, next.prefixPaths).then((isTaken) => {
      if (!isTaken) log.error('prefixes not taken: files with mistakes, and the site, stay as they were');
      else if (isFile) log.info('prefixes taken');
    });
    // What no file is named for is taken at once.
    return isFile ? ['prefixes'] : [];
  };
  const answerHangUps = obeySignals({
    graceMs: {
      get drain() {
        return master.drainMs() + GRACE_MS;
      },
      soon: GRACE_MS,
      now: 0,
    },
    close: (graceMs) => master.close(graceMs - GRACE_MS),
    lastSave: () => master.lastSave(),
    reload: createReload({ started, read, take, nowMs: Date.now, log }),
    log,
  });
  const { url } = await master.listen();
  answerHangUps();
  certificates.start();
  process.stdout.write(`ready ${JSON.stringify({ url })}\n`);
  process.send?.({ ready: { url } });
}

/** What a NATS server is met with, where there is a certificate for it. */
function busTlsOf(material: {
  readonly 'bus.tls': TlsMaterial | undefined;
  readonly 'bus.trustedCaFiles': readonly string[];
}): NatsTls | undefined {
  const tls = material['bus.tls'];
  return tls && { ...tls, authorities: material['bus.trustedCaFiles'] };
}
