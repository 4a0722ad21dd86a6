import { text } from 'node:stream/consumers';
import type { Placement } from '../../overlay/placement.ts';
import type { Network } from '../network/network.ts';

/** Services at the sites of a network: `siteOf` says where the master and each depot run. */
export function inNetwork(network: Network, siteOf: (service: string) => string): Placement {
  return {
    hostOf: (service) => network.addressOf(siteOf(service)),
    launchAt: (service) => (command, cwd) =>
      network.spawn(siteOf(service), command, ['ignore', 'ignore', 'pipe', 'ipc'], cwd),
    getText: async (service, url) => {
      // Only from the service's own site and only about itself: whose certificate it is does not matter here.
      const command = ['curl', '--silent', '--insecure', '--max-time', '5', url];
      const { stdout } = network.spawn(siteOf(service), command, ['ignore', 'pipe', 'ignore']);
      return stdout ? text(stdout) : '';
    },
  };
}
