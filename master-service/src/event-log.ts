import { ERRORS, LonghaulError } from '@longhaul/shared';
import { Seldom } from '@longhaul/shared/service';
import type { Logger } from 'pino';
import type { EmitEvent, MasterEvent } from './events.ts';

/** Warnings that somebody else can cause are written this often, with the number of those between. */
const WARNING_INTERVAL_MS = 60_000;

/** What writes an event, by its type. */
type Writers = {
  readonly [Type in MasterEvent['type']]: (event: Extract<MasterEvent, { type: Type }>) => void;
};

/** Writes events for people; of those that others can cause, one of a kind each minute. */
export function createEventLog(log: Logger, nowMs: () => number): EmitEvent {
  const seldom = new Seldom(WARNING_INTERVAL_MS, nowMs);
  // One line for each download would cost more than the answer itself; counters have them.
  const quiet = (event: MasterEvent) => log.debug(event);
  const line = (level: 'info' | 'warn', message: string) => (event: MasterEvent) =>
    log[level](fieldsOf(event), message);
  /** A kind is a type of event and what is of one kind within it. */
  const warnSeldom = (event: MasterEvent, message: string, ...ofKind: readonly unknown[]) => {
    const heldBack = seldom.take([event.type, ...ofKind].join(' '));
    if (heldBack === undefined) return;
    log.warn(heldBack > 0 ? { ...fieldsOf(event), heldBack } : fieldsOf(event), message);
  };
  const writers: Writers = {
    planned: quiet,
    redirected: quiet,
    'job-ended': quiet,
    explored: quiet,
    feedback: quiet,
    refused: quiet,
    'plan-spared': quiet,
    'client-told': quiet,
    'origin-probe': quiet,
    'measurements-ignored': quiet,
    'depot-heard': quiet,
    'depot-registered': line('info', 'depot registered'),
    'depot-proved': (event) =>
      event.isRenewed ? quiet(event) : log.info(fieldsOf(event), 'depot proved its address'),
    'depot-not-proved': (event) => warnSeldom(event, 'depot did not prove its address', event.depot),
    'depot-not-asked': (event) => warnSeldom(event, ERRORS[event.code].message, event.code),
    'depot-refused': (event) =>
      // A depot that is not known registers at once.
      event.code === 'depot-unknown'
        ? quiet(event)
        : warnSeldom(event, `depot refused: ${ERRORS[event.code].message}`, event.code),
    'depot-down': line('warn', 'depot is not there any more'),
    'depot-unreached': (event) => warnSeldom(event, 'depot cannot connect to another one that is there'),
    'origin-unreached': quiet,
    'depot-twice': (event) => warnSeldom(event, ERRORS['depot-twice'].message, event.depot),
    'depot-trust': (event) =>
      log.warn(
        fieldsOf(event),
        event.isTrusted
          ? 'depot agrees with its neighbours again'
          : 'depot is contradicted by its neighbours',
      ),
    'depot-moved': line('info', 'depot is in another network now'),
    enrolment: (event) => log.info(fieldsOf(event), `enrolment: ${event.what}`),
    'keys-published': line('info', 'keys published'),
    'keys-waiting': (event) => log.warn(fieldsOf(event), ERRORS[event.code].message),
    'facts-restored': line('info', 'facts restored'),
    'facts-set-aside': line(
      'warn',
      'what was known is too old by this clock: if that is wrong, set it right and start again',
    ),
    'facts-refused': (event) => warnSeldom(event, ERRORS[event.code].message, event.code, event.from),
    'bus-connected': line('info', 'connected with other masters'),
    'bus-failed': (event) =>
      // One that says more is not held back for one that says less.
      warnSeldom(event, ERRORS[event.code].message, event.code, event.detail !== undefined),
    'clock-doubted': line(
      'warn',
      'the clock was set: the time before goes on until most depots say otherwise',
    ),
    'clock-set': line('warn', 'the time was set'),
    'descriptors-out': (event) => warnSeldom(event, ERRORS[event.code].message),
    'connection-refused': (event) => warnSeldom(event, ERRORS['too-many-connections'].message, event.bound),
    'prefixes-loaded': line('info', 'prefixes loaded'),
    'prefixes-refused': (event) =>
      log.error(fieldsOf(event), `prefixes not loaded: ${ERRORS[event.code].message}`),
    failed: ({ error }) => {
      // The state folder itself tells this once, without a stack that says nothing of a disk.
      if (!isOfState(error)) log.error({ err: error }, 'request failed');
    },
  };
  return <Type extends MasterEvent['type']>(event: Extract<MasterEvent, { type: Type }>) =>
    writers[event.type](event);
}

function fieldsOf(event: MasterEvent): object {
  const { type: _, ...fields } = event;
  return fields;
}

function isOfState(error: unknown): boolean {
  return error instanceof LonghaulError && error.code === 'state-unusable';
}
