import { waitsForUser } from '../jobs/job.ts';
import type { RunningDownload, Status } from '../messages/status.ts';

/** How things stand, the first that matters. */
export type PopupState = 'not-yet' | 'off' | 'no-master' | 'no-access' | 'trouble' | 'running' | 'ready';

/** How things stand, at a glance. */
export function popupState(status: Status, hasAccess: boolean): PopupState {
  if (!status.consented) return 'not-yet';
  if (!status.hasMaster) return 'no-master';
  if (!hasAccess) return 'no-access';
  if (status.running.some(waitsForUser)) return 'trouble';
  if (throughDepots(status).length > 0) return 'running';
  return status.enabled ? 'ready' : 'off';
}

/** What comes through depots now, or is tried again: not what comes directly, nor what the user has paused. */
export function throughDepots({ running }: Pick<Status, 'running'>): readonly RunningDownload[] {
  return running.filter(({ way, state }) => way === 'chain' && state !== 'paused' && state !== 'lost');
}

/** Whether there is something that "Clear" would forget. */
export function hasEnded({ done, running }: Pick<Status, 'done' | 'running'>): boolean {
  return done.length > 0 || running.some(({ state }) => state === 'lost');
}
