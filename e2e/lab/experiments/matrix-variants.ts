import type { Variant } from '../experiment.ts';
import { FOUR_LINKS_DEPOTS } from './four-links.ts';

/** Every way through the four links: plain tools, rivals at the depots' sites, chains by hand, and the planner. */
export const MATRIX_VARIANTS: Readonly<Record<string, Variant>> = {
  direct: { kind: 'direct' },
  ranges8: { kind: 'ranges', connections: 8 },
  'aria2-16': { kind: 'aria2', connections: 16 },
  haproxy3: { kind: 'relays', through: 'haproxy' },
  'haproxy3-kept': { kind: 'relays', through: 'haproxy-kept' },
  nginx3: { kind: 'relays', through: 'nginx' },
  'haproxy3-ranges8': { kind: 'ranges', connections: 8, through: 'haproxy' },
  'haproxy3-aria2-16': { kind: 'aria2', connections: 16, through: 'haproxy' },
  'haproxy3-kept-ranges8': { kind: 'ranges', connections: 8, through: 'haproxy-kept' },
  'nginx3-ranges8': { kind: 'ranges', connections: 8, through: 'nginx' },
  'nginx3-aria2-16': { kind: 'aria2', connections: 16, through: 'nginx' },
  'chain1-far': { kind: 'chain', depots: ['far'] },
  'chain1-near': { kind: 'chain', depots: ['near'] },
  chain2: { kind: 'chain', depots: ['near', 'far'] },
  chain3: { kind: 'chain', depots: FOUR_LINKS_DEPOTS },
  'chain3-lanes4': { kind: 'chain', depots: FOUR_LINKS_DEPOTS, lanes: 4 },
  'chain3-lanes8': { kind: 'chain', depots: FOUR_LINKS_DEPOTS, lanes: 8 },
  'chain3-lanes8-plain': { kind: 'chain', depots: FOUR_LINKS_DEPOTS, lanes: 8, laneSetup: 'plain' },
  auto: { kind: 'auto' },
};

/** Where others' traffic is looked at: a download over lanes is held against as many plain ranges. */
export const SHARING_VARIANTS: Readonly<Record<string, Variant>> = {
  ...MATRIX_VARIANTS,
  ranges4: { kind: 'ranges', connections: 4 },
};
