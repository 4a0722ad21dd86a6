import { describe, expect, test } from 'vitest';
import { readDepotConfig } from '../config.ts';

const BASE = {
  id: 'd1',
  listen: { host: '127.0.0.1', port: 0 },
  stateDir: '/tmp/state',
  master: { url: 'http://127.0.0.1:1', enrolmentSecretFile: 'secret' },
};

const read = (config: object) => readDepotConfig({ ...BASE, ...config }).sockets;

describe('the table of socket options', () => {
  test('is complete without a word in the configuration', () => {
    const { client, depot, origin } = read({});
    expect(client).toMatchObject({ congestionControl: 'bbr', userTimeoutSeconds: 0, noDelay: true });
    expect(depot).toMatchObject({ congestionControl: 'bbr', userTimeoutSeconds: 0, mptcp: false });
    expect(origin).toMatchObject({ congestionControl: 'system', userTimeoutSeconds: 60 });
    expect(client.sendBufferBytes).toBeUndefined();
  });

  test('keeps what is not named when one option is', () => {
    const { depot } = read({ sockets: { depot: { congestionControl: 'cubic' } } });
    expect(depot).toMatchObject({ congestionControl: 'cubic', notSentLowatBytes: 524_288 });
  });

  test.each([
    [{ client: { congestionControl: 'BBR v3' } }, 'sockets.client.congestionControl'],
    [{ client: { mptcp: true } }, 'sockets.client.mptcp: there is no such key'],
    [{ depot: { sendBufferBytes: 12 } }, 'sockets.depot.sendBufferBytes'],
    [{ depot: { receiveBufferBytes: 2 ** 31 } }, 'sockets.depot.receiveBufferBytes'],
    [{ origin: { keepAliveSeconds: 0 } }, 'sockets.origin.keepAliveSeconds'],
    [{ origin: { userTimeoutSeconds: -1 } }, 'sockets.origin.userTimeoutSeconds'],
    [{ origin: { notSentLowatBytes: 1.5 } }, 'sockets.origin.notSentLowatBytes'],
    [{ origin: { maxPacingBps: 125 } }, 'sockets.origin.maxPacingBps'],
    [{ peers: {} }, 'sockets.peers: there is no such key'],
  ])('refuses %j by name', (sockets, mistake) => {
    expect(() => read({ sockets })).toThrow(mistake);
  });

  test('refuses a user timeout that would break a paused download', () => {
    const sockets = { client: { userTimeoutSeconds: 60 }, depot: { userTimeoutSeconds: 3600 } };
    expect(() => read({ sockets })).toThrow('sockets.client.userTimeoutSeconds: must be 0 or at least');
    expect(read({ sockets, timeouts: { stallSeconds: 30 } }).client.userTimeoutSeconds).toBe(60);
  });
});
