#!/usr/bin/env node
import { fstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  commandLineWrong,
  explainFailure,
  obeySignals,
  openStandardError,
  packageVersion,
  readCommandLine,
} from '@longhaul/shared/service';
import { type Logger, pino } from 'pino';
import { Announcer } from './announcer.ts';
import { createHealthAsker } from './ask-health.ts';
import { RouteProgram } from './route-program.ts';
import { USAGE } from './usage.ts';

/** From one question to the next. */
const CHECK_MS = 100;
/** A withdrawal at the end takes one run of the program, or a few that fail soon. */
const END_MS = 3_500;

main();

function main(): void {
  const log = pino({ name: 'longhaul-announce', base: null }, openStandardError());
  const version = packageVersion(new URL('../../package.json', import.meta.url));
  try {
    const asked = readCommandLine(process.argv.slice(2), ['url', 'run'], ['url', 'run']);
    if (asked.kind === 'help') process.stdout.write(USAGE);
    else if (asked.kind === 'version') process.stdout.write(`longhaul-announce ${version}\n`);
    else void announce(urlOf(asked.values.url), resolve(asked.values.run), log);
  } catch (failure) {
    const explained = explainFailure('longhaul-announce', USAGE, failure);
    if (explained) process.stderr.write(explained.text);
    else log.fatal({ err: failure }, 'could not start');
    process.exitCode = explained?.exitCode ?? 1;
  }
}

async function announce(url: URL, program: string, log: Logger): Promise<void> {
  const announcer = new Announcer();
  const health = createHealthAsker(url);
  let answer: string | undefined;
  const ending = new AbortController();
  const nowMs = () => performance.now();
  const route = new RouteProgram({
    program,
    nowMs,
    onDone: (word) => log.info({ word, answer }, 'route changed'),
    onFailed: (word, why) => log.error({ word, program, why }, 'the program that changes the route failed'),
  });
  const end = async () => {
    ending.abort();
    health.close();
    // Nobody looks after the master any more.
    await route.end('withdraw');
  };
  obeySignals({
    graceMs: { drain: END_MS, soon: END_MS, now: 0 },
    close: end,
    reload: () => {},
    log,
  });
  takeInput(() => void end().then(() => process.exit(0)));
  while (!ending.signal.aborted) {
    const askedAtMs = nowMs();
    const heard = await health.ask();
    answer = heard;
    const word = announcer.take(heard, nowMs());
    if (word !== undefined && !ending.signal.aborted) void route.want(word);
    await delay(Math.max(0, askedAtMs + CHECK_MS - nowMs()));
  }
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw commandLineWrong(`--url ${text} is no http or https URL`);
}

/** ExaBGP answers each line, and would wait for ever for somebody to read that; when it has gone, so has its pipe. */
function takeInput(onGone: () => void): void {
  let isPipe = false;
  try {
    const input = fstatSync(0);
    isPipe = input.isFIFO() || input.isSocket();
  } catch {
    // Closed from the start.
  }
  if (isPipe) process.stdin.resume().once('end', onGone).once('error', onGone);
}
