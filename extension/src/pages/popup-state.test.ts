import { expect, it } from 'vitest';
import type { DoneDownload, RunningDownload, Status } from '../messages/status.ts';
import { hasEnded, popupState, throughDepots } from './popup-state.ts';

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
const running = (state: RunningDownload['state'], way: RunningDownload['way'] = 'chain') => [
  { state, way } as RunningDownload,
];

it('says first what keeps everything from working', () => {
  expect(popupState(status({ consented: false, hasMaster: false }), false)).toBe('not-yet');
  expect(popupState(status({ hasMaster: false }), false)).toBe('no-master');
  expect(popupState(status({ running: running('stuck') }), false)).toBe('no-access');
});

it('says that a download needs the user before it says that downloads run', () => {
  expect(popupState(status({ running: [...running('running'), ...running('click')] }), true)).toBe('trouble');
  expect(popupState(status({ running: running('running') }), true)).toBe('running');
  // What has begun goes on although the switch is off.
  expect(popupState(status({ running: running('waiting'), enabled: false }), true)).toBe('running');
  expect(popupState(status({ enabled: false }), true)).toBe('off');
  expect(popupState(status(), true)).toBe('ready');
});

it('counts as through depots neither what comes directly, nor what is paused or lost', () => {
  const others = [...running('running', 'direct'), ...running('paused'), ...running('lost')];
  const through = [...running('running'), ...running('waiting')];
  expect(throughDepots(status({ running: [...others, ...through] }))).toEqual(through);
  expect(popupState(status({ running: others.slice(0, 2) }), true)).toBe('ready');
  expect(popupState(status({ running: others.slice(0, 2), enabled: false }), true)).toBe('off');
});

it('offers to forget what is done, and what is lost although nothing is done', () => {
  expect(hasEnded(status({ running: running('click') }))).toBe(false);
  expect(hasEnded(status({ running: running('lost') }))).toBe(true);
  expect(hasEnded(status({ done: [{} as DoneDownload] }))).toBe(true);
});
