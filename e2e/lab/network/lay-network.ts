import { type Emulator, startEmulator } from '../emulator/emulator.ts';
import { allowCongestionControls } from './congestion-controls.ts';
import type { Lab } from './leftovers.ts';
import { linkSettings } from './link-settings-of.ts';
import { runIp, setSysctls } from './namespaces.ts';
import { addressAt, endsOf, nextLinks, siteAddresses } from './routes.ts';
import { siteSettings, siteSysctls } from './site-settings.ts';
import type { EmulatedLink, Topology, Wire } from './topology.ts';

/** Of every link, as on Ethernet. */
const MTU_BYTES = 1500;
/**
 * What waits for the emulator: 24 ms of 1 Gbit/s, 240 ms of 100 Mbit/s. A longer stall drops packets, which
 * are counted; without a bound it would only be a spike of delay that nobody sees.
 */
export const DEVICE_QUEUE_PACKETS = 2000;
/** Both ends of a wire have it: a device without ARP sends to its own address, and that must be the peer's. */
const WIRE_ADDRESS = '02:00:00:00:00:01';

/** Makes a namespace for each site, with its settings. */
export function createSites({ sites }: Topology, { prefix }: Lab): void {
  allowCongestionControls(Object.values(sites).map((site) => siteSettings(site).congestionControl));
  runIp(Object.keys(sites).map((name) => `netns add ${prefix}-${name}`));
  for (const [name, site] of Object.entries(sites)) setSysctls(`${prefix}-${name}`, siteSysctls(site));
}

/** Starts the emulator with all its links, or none when there are only wires. */
export async function startLinks({ links }: Topology, lab: Lab, seed: number): Promise<Emulator | undefined> {
  const emulated = links.flatMap((link, index) => {
    if ('wire' in link) return [];
    const devices = [deviceOf(lab, link, index, 0), deviceOf(lab, link, index, 1)] as const;
    return [{ name: linkName(link), devices, settings: linkSettings(link) }];
  });
  return emulated.length === 0 ? undefined : startEmulator(emulated, seed);
}

/** Puts every device where it belongs, up, with routes to all sites. */
export function connectSites(topology: Topology, lab: Lab): void {
  const { sites, links } = topology;
  const namespaceOf = (site: string) => `${lab.prefix}-${site}`;
  runIp(
    links.flatMap((link, index) => {
      const [first, second] = endsOf(link).map(namespaceOf);
      const [near, far] = [deviceOf(lab, link, index, 0), deviceOf(lab, link, index, 1)];
      if (!('wire' in link)) return [`link set ${near} netns ${first}`, `link set ${far} netns ${second}`];
      const end = (device: string, namespace: string | undefined) =>
        `${device} address ${WIRE_ADDRESS} netns ${namespace}`;
      return [`link add ${end(near, first)} type veth peer name ${end(far, second)}`];
    }),
  );
  const addresses = siteAddresses(topology);
  const next = nextLinks(topology);
  for (const [site, { addresses: count = 1 }] of Object.entries(sites)) {
    const deviceTo = (link: EmulatedLink | Wire) =>
      deviceOf(lab, link, links.indexOf(link), endsOf(link)[0] === site ? 0 : 1);
    const own = addresses.get(site) ?? '';
    const devices = links
      .filter((link) => endsOf(link).includes(site))
      .map(
        (link) => `link set ${deviceTo(link)} arp off mtu ${MTU_BYTES} txqueuelen ${DEVICE_QUEUE_PACKETS} up`,
      );
    const routes = [...(next.get(site) ?? [])].map(
      ([other, link]) =>
        `route add ${addressAt(addresses.get(other) ?? '', 0)}/24 dev ${deviceTo(link)} src ${own}`,
    );
    const owned = Array.from({ length: count }, (_, at) => `addr add ${addressAt(own, at + 1)}/32 dev lo`);
    runIp(['link set lo up', ...owned, ...devices, ...routes], namespaceOf(site));
  }
}

/** Name of a link for the emulator. */
export function linkName({ between }: EmulatedLink): string {
  return between.join(':');
}

/** Unique on the machine, because devices of links are born where the driver is; at most 15 characters. */
function deviceOf({ prefix }: Lab, link: EmulatedLink | Wire, index: number, end: 0 | 1): string {
  const kind = 'wire' in link ? 'w' : 'l';
  return `${prefix.slice(-6)}-${kind}${index}${end === 0 ? 'a' : 'b'}`;
}
