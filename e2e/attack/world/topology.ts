import { KIB } from '@longhaul/shared';
import type { Topology } from '../../lab/network/topology.ts';

export const DEPOTS = ['d1', 'd2', 'd3'] as const;
export type DepotId = (typeof DEPOTS)[number];

/** What runs at the further addresses of the attacker's site, which stand for hosts of the public Internet. */
export const PLACES = {
  /** A client in the attacker's own /24 who does nothing wrong. */
  neighbour: 2,
  /** An origin that everyone may download from. */
  origin: 10,
  /** An origin that is served to the public only, under the caps of the master. */
  metered: 11,
  /** A depot that has the enrolment secret and misbehaves. */
  liar: 20,
  /** A real depot whose way to its master leads through the attacker. */
  misled: 30,
} as const;
const MOST_PLACES = 40;

/** Far enough that a download takes a part of a second, which hardly varies on a machine that has other work. */
const BYSTANDER_LINK = { rttMs: 20, rateBps: 50e6, queue: { bytes: 250_000 } } as const;

/**
 * Everybody around one router. Only the bystander's link is emulated: cables cost next to nothing, so what an attacker
 * sends costs the machine no more than the attacked do.
 */
export const ARENA: Topology = {
  name: 'a master, three depots, an origin and their clients around one router; 20 ms and 50 Mbit/s to the bystander',
  sites: {
    core: { role: 'router' },
    master: { role: 'router' },
    d1: { role: 'depot' },
    d2: { role: 'depot' },
    d3: { role: 'depot' },
    web: { role: 'origin' },
    inner: { role: 'origin' },
    bystander: { role: 'client' },
    watch: { role: 'client' },
    // Its own buffers are small, so that what it does not read waits with those whom it attacks.
    attacker: { role: 'client', addresses: MOST_PLACES, receiveBufferBytes: 256 * KIB },
  },
  links: [
    { between: ['core', 'bystander'], ...BYSTANDER_LINK },
    ...['master', ...DEPOTS, 'web', 'inner', 'watch', 'attacker'].map((site) => ({
      wire: ['core', site] as const,
    })),
  ],
};
