import { runIp } from '../network/namespaces.ts';
import type { Network } from '../network/network.ts';

/**
 * What both ends of a cable have, see `network/lay-network`; a host with another one hears nothing and is not
 * heard.
 */
const CABLE_MAC = '02:00:00:00:00:01';
const DEAF_MAC = '02:00:00:00:00:99';

/** The cables of a network, each named by its two ends in the order of the topology. */
export interface Cables {
  /** The device at one end. */
  readonly deviceAt: (cable: Cable, end: 0 | 1) => string;
  /** Makes a cable silent: nothing comes and nothing goes, and no device is down. */
  readonly silence: (cable: Cable) => void;
  readonly heal: (cable: Cable) => void;
}

export type Cable = readonly [string, string];

/** What can be done with the cables of a network while it lives. */
export function cablesOf({ topology, prefix }: Network): Cables {
  // As `network/lay-network` names the ends of wires.
  const deviceAt = ([from, to]: Cable, end: 0 | 1) => {
    const index = topology.links.findIndex(
      (link) => 'wire' in link && link.wire[0] === from && link.wire[1] === to,
    );
    if (index < 0) throw new Error(`the topology '${topology.name}' has no cable from ${from} to ${to}`);
    return `${prefix.slice(-6)}-w${index}${end === 0 ? 'a' : 'b'}`;
  };
  const setMac = (cable: Cable, address: string) =>
    runIp([`link set ${deviceAt(cable, 1)} address ${address}`], `${prefix}-${cable[1]}`);
  return {
    deviceAt,
    silence: (cable) => setMac(cable, DEAF_MAC),
    heal: (cable) => setMac(cable, CABLE_MAC),
  };
}
