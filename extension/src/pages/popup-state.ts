import { waitsForUser } from '../jobs/job.ts';
import type { Status } from '../messages/status.ts';

/** How things stand, the first that matters. */
export type PopupState = 'not-yet' | 'off' | 'no-master' | 'no-access' | 'trouble' | 'running' | 'ready';

/** How things stand, at a glance. */
export function popupState(status: Status, hasAccess: boolean): PopupState {
  if (!status.consented) return 'not-yet';
  if (!status.hasMaster) return 'no-master';
  if (!hasAccess) return 'no-access';
  if (status.running.some(waitsForUser)) return 'trouble';
  if (status.running.some(({ state }) => state !== 'lost')) return 'running';
  return status.enabled ? 'ready' : 'off';
}

/** Whether there is something that "Clear" would forget. */
export function hasEnded({ done, running }: Pick<Status, 'done' | 'running'>): boolean {
  return done.length > 0 || running.some(({ state }) => state === 'lost');
}
