import { expect, test } from 'vitest';
import { testBus } from '../testing/bus-promises.ts';
import { InProcessBus, type InProcessMeeting } from './in-process-bus.ts';

testBus('within one process', async () => {
  const meeting: InProcessMeeting = new Set();
  return {
    join: async (name) => new InProcessBus(name, meeting),
    settled: async () => {},
    close: async () => meeting.clear(),
  };
});

test('a master without others knows that it is alone', () => {
  const meeting: InProcessMeeting = new Set();
  const bus = new InProcessBus('one', meeting);
  expect(bus.status().isAlone).toBe(true);
  new InProcessBus('two', meeting);
  expect(bus.status().isAlone).toBe(false);
});
