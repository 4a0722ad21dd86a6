import { spawn } from 'node:child_process';
import type { Network } from '../network/network.ts';

/** A network of one site, this machine's loopback, for what is about programs and not about links. */
export function loopbackNetwork(folder: string): Network {
  const absent = () => {
    throw new Error('loopback has no links to change');
  };
  return {
    topology: { name: 'loopback', sites: { here: { role: 'client' } }, links: [] },
    prefix: 'lh-loopback',
    folder,
    addressOf: () => '127.0.0.1',
    spawn: (_, [program = '', ...args], stdio, cwd) => spawn(program, args, { stdio, cwd }),
    setReceiveBuffer: absent,
    setCongestionControl: absent,
    setLink: absent,
    reseed: absent,
    countersOf: absent,
    deviceDrops: () => 0,
    emulatorPid: undefined,
    takeLateness: absent,
    startCrossTraffic: absent,
    close: async () => {},
  };
}
