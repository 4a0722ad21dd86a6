import { join } from 'node:path';
import { runIp } from '../../lab/network/namespaces.ts';
import type { Network } from '../../lab/network/network.ts';
import { startHelper } from './start-helper.ts';
import { DEPOTS } from './topology.ts';
import { LOOPBACK_ADDRESS, METADATA_ADDRESS } from './zone.ts';

/** Somebody came where no plan leads. */
export interface Visit {
  /** Site, address and port. */
  readonly place: string;
  readonly from: string;
  /** The first line that the visitor sent. */
  readonly said: string;
}

const PROGRAM = join(import.meta.dirname, 'watchdog-main.ts');
/** What attackers ask for most: web servers, mail, a shell, a database, the service of a cloud. */
const PORTS = [80, 443, 8080, 22, 25, 6379];

/** Listens on loopback and on the cloud's address beside every service, and on a host of the network inside. */
export async function startWatchdogs(network: Network, onVisit: (visit: Visit) => void): Promise<void> {
  const start = async (site: string, addresses: readonly string[]) => {
    const places = addresses.flatMap((address) => PORTS.map((port) => `${address}:${port}`));
    const dog = await startHelper(network, site, `watchdog-${site}`, [PROGRAM, ...places]);
    dog.on('message', (message: { readonly visit: Visit }) =>
      onVisit({ ...message.visit, place: `${site} ${message.visit.place}` }),
    );
  };
  const services = ['master', ...DEPOTS];
  for (const site of services) runIp([`addr add ${METADATA_ADDRESS}/32 dev lo`], `${network.prefix}-${site}`);
  await Promise.all([
    ...services.map((site) => start(site, [LOOPBACK_ADDRESS, METADATA_ADDRESS])),
    start('inner', [network.addressOf('inner')]),
  ]);
}
