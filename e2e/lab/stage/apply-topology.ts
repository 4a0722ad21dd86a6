import { linkSettings } from '../network/link-settings-of.ts';
import type { Network } from '../network/network.ts';
import { siteSettings } from '../network/site-settings.ts';
import type { Topology } from '../network/topology.ts';

/** Changes a living network to what `to` says, where it differs from `from`; both have the same sites and links. */
export async function applyTopology(network: Network, from: Topology, to: Topology): Promise<void> {
  for (const [name, site] of Object.entries(to.sites)) {
    const before = siteSettings(from.sites[name] ?? site);
    const wanted = siteSettings(site);
    if (before.receiveBufferBytes !== wanted.receiveBufferBytes)
      network.setReceiveBuffer(name, wanted.receiveBufferBytes);
    if (before.congestionControl !== wanted.congestionControl)
      network.setCongestionControl(name, wanted.congestionControl);
  }
  for (const [index, link] of to.links.entries()) {
    const before = from.links[index];
    if ('wire' in link || JSON.stringify(before) === JSON.stringify(link)) continue;
    const [first, second] = link.between;
    const wanted = linkSettings(link);
    for (const direction of ['forward', 'backward'] as const)
      await network.setLink({ from: first, to: second, direction }, wanted[direction]);
  }
}
