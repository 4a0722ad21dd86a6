import { expect, test } from 'vitest';
import { MATRIX } from '../experiments/matrix.ts';
import { loopbackNetwork } from '../transfers/loopback-network.ts';
import { LONGEST_TRANSFER_SECONDS } from '../transfers/transfer.ts';
import { requestOf } from './fetch-variant.ts';

test('a transfer that shall not be cut is cut all the same when it takes longer than any, and has not failed', () => {
  const [scenario] = MATRIX.scenarios;
  if (!scenario) throw new Error('the matrix has no scenario');
  const stage = {
    network: loopbackNetwork('/nowhere'),
    originUrl: 'http://127.0.0.1',
    overlay: absent,
    relayUrl: absent,
    caFile: undefined,
    enter: absent,
    refreshTraffic: absent,
    crossBytes: absent,
    close: absent,
  };
  const cutSecondsOf = (cutSeconds: number | null) =>
    requestOf(stage, scenario, { kind: 'direct' }, cutSeconds).cutSeconds;
  expect(cutSecondsOf(null)).toBe(LONGEST_TRANSFER_SECONDS);
  expect(cutSecondsOf(12)).toBe(12);
});

function absent(): never {
  throw new Error('a request for a direct transfer needs its origin alone');
}
