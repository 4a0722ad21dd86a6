import { isatty } from 'node:tty';
import { LonghaulError } from '../../errors.ts';
import { takeHangUps } from './early-hang-ups.mjs';
import { EndRequests, type Urgency } from './end-requests.ts';
import { findNpmRun } from './npm-run.ts';
import { linuxProcesses } from './process-table.ts';
import { Terminal } from './terminal.ts';

/** How often a service looks whether the npm that runs it, and its terminal, are still there. */
const LOOK_MS = 1000;
/** Looks in a row that miss npm: the hang-up that says "go on alone" may be on its way at the first. */
const MISSES_OF_NPM = 2;
/** A hang-up that came so shortly before npm was missed was for both: npm ends by it, the service was meant to stay. */
const SAME_HANG_UP_MS = 3000;
/** Past its time a service that is ending is not waited for. */
const PATIENCE_MS = 400;
/**
 * Nor is one that still writes, however long that took it before: with 16 s until a master begins to end,
 * supervisors that wait for 30 s have not lost theirs.
 */
const MOST_SAVING_MS = 10_000;

interface Log {
  readonly info: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}

/** What a service writes as it ends. */
export interface LastSave {
  /** How long that may take, by how long it took before; infinity where nobody knows. */
  readonly withinMs: number;
  readonly isDone: boolean;
}

/** A service that signals control. */
export interface ControlledService {
  /** Time that running work gets, for each kind of end. */
  readonly graceMs: Readonly<Record<Urgency, number>>;
  /** Takes nothing new; resolves when all has ended. Called again with less time when somebody is in a hurry. */
  readonly close: (graceMs: number) => Promise<void>;
  /** Reads again what can be read again while it runs; never throws. */
  readonly reload: () => void;
  /** Left out where nothing has to be written. */
  readonly lastSave?: () => LastSave;
  readonly log: Log;
}

/**
 * Lets a service do what operators expect of its process: SIGTERM drains it, SIGINT gives it a moment, either
 * again ends it at once, SIGHUP reloads. It ends, too, with the program that started it as a child with a
 * channel, with the terminal that it was started in, and with the npm that runs it. Ends the process with 0.
 * To be called when it is ready: what it gives. A hang-up that came before, from the first module on, is
 * answered by one reload then.
 */
export function obeySignals(service: ControlledService): () => void {
  const { log } = service;
  const requests = new EndRequests(() => performance.now());
  let limit: NodeJS.Timeout | undefined;
  const end = (why: string, urgency: 'drain' | 'soon', isSignal: boolean) => {
    const decided = requests.take({ urgency, isSignal });
    if (decided === undefined) return;
    const graceMs = service.graceMs[decided];
    log.info({ withinSeconds: graceMs / 1000 }, `ends: ${why}`);
    clearTimeout(limit);
    // Who is in such a hurry does not wait for a disk.
    const savingMs = decided === 'now' ? 0 : (service.lastSave?.().withinMs ?? 0);
    limit = setTimeout(
      () => {
        if (service.lastSave?.().isDone === false) {
          const { code, message } = new LonghaulError('state-not-saved');
          log.error({ code }, message);
        }
        process.exit(0);
      },
      graceMs + Math.max(PATIENCE_MS, Math.min(savingMs, MOST_SAVING_MS)),
    );
    service.close(graceMs).then(
      () => process.exit(0),
      (failure: unknown) => {
        log.error({ err: failure }, 'could not end in order');
        process.exit(1);
      },
    );
  };
  const terminal = new Terminal(isatty);
  let hungUpAtMs = Number.NEGATIVE_INFINITY;
  let isReady = false;
  let isAsked = false;
  const takeHangUp = (isOfTerminal: boolean) => {
    hungUpAtMs = performance.now();
    if (process.platform === 'win32' || isOfTerminal) end('the terminal was closed', 'drain', false);
    else if (isReady) service.reload();
    else isAsked = true;
  };
  process.on('SIGTERM', () => end('SIGTERM', 'drain', true));
  process.on('SIGINT', () => end('SIGINT', 'soon', true));
  process.on('SIGHUP', () => takeHangUp(terminal.hangsUp));
  const early = takeHangUps();
  if (early) takeHangUp(early.isOfTerminal);
  if (process.channel)
    process.on('disconnect', () => end('the program that started it has gone', 'soon', false));
  setInterval(() => terminal.look(), LOOK_MS).unref();
  whenNpmGoes(() => {
    if (performance.now() - hungUpAtMs < SAME_HANG_UP_MS)
      log.info({}, 'goes on without npm, which was hung up');
    else end('the npm that ran it has gone', 'drain', false);
  });
  return () => {
    isReady = true;
    if (isAsked) service.reload();
  };
}

/** Lets a hang-up end this program, as it does any that is no service. */
export function endByHangUps(): void {
  const end = () => {
    process.off('SIGHUP', end);
    process.kill(process.pid, 'SIGHUP');
  };
  // One that has come is told of at the next turn of the event loop, to whoever listens then.
  process.on('SIGHUP', end);
  if (takeHangUps()) end();
}

/** Calls back, once, when the npm that runs this program in its foreground has gone; Linux only. */
export function whenNpmGoes(onGone: () => void): void {
  const npm = findNpmRun({ pid: process.pid, parent: () => process.ppid, env: process.env }, linuxProcesses);
  if (!npm) return;
  let missed = 0;
  const timer = setInterval(() => {
    missed = npm.isThere() ? 0 : missed + 1;
    if (missed < MISSES_OF_NPM) return;
    clearInterval(timer);
    onGone();
  }, LOOK_MS).unref();
}
