import { expect, it } from 'vitest';
import type { DoneDownload, RunningDownload, Status } from '../messages/status.ts';
import { hasEnded, popupState } from './popup-state.ts';

const status = (patch: Partial<Status> = {}): Status => ({
  consented: true,
  enabled: true,
  hasMaster: true,
  site: '',
  siteUse: undefined,
  running: [],
  done: [],
  lastLeft: undefined,
  ...patch,
});
const running = (state: RunningDownload['state']) => [{ state } as RunningDownload];

it('says first what keeps everything from working', () => {
  expect(popupState(status({ consented: false, hasMaster: false }), false)).toBe('not-yet');
  expect(popupState(status({ hasMaster: false }), false)).toBe('no-master');
  expect(popupState(status({ running: running('stuck') }), false)).toBe('no-access');
});

it('says that a download needs the user before it says that downloads run', () => {
  expect(popupState(status({ running: [...running('running'), ...running('click')] }), true)).toBe('trouble');
  expect(popupState(status({ running: running('paused') }), true)).toBe('running');
  // What has begun goes on although the switch is off.
  expect(popupState(status({ running: running('waiting'), enabled: false }), true)).toBe('running');
  expect(popupState(status({ enabled: false }), true)).toBe('off');
  expect(popupState(status(), true)).toBe('ready');
});

it('offers to forget what is done, and what is lost although nothing is done', () => {
  expect(hasEnded(status({ running: running('click') }))).toBe(false);
  expect(hasEnded(status({ running: running('lost') }))).toBe(true);
  expect(hasEnded(status({ done: [{} as DoneDownload] }))).toBe(true);
});
