import { MIB } from '@longhaul/shared';
import type { Topology } from '../network/topology.ts';
import { worldLink as link, type UnknownWorld } from './unknown-world.ts';

const TOPOLOGY: Topology = {
  name: 'six depots beside routers, clients on three continents',
  sites: {
    'r-iad': { role: 'router' },
    'r-sjc': { role: 'router' },
    'r-lon': { role: 'router' },
    'r-tok': { role: 'router' },
    'r-jnb': { role: 'router' },
    iad: { role: 'depot' },
    sjc: { role: 'depot' },
    lon: { role: 'depot' },
    tok: { role: 'depot' },
    jnb: { role: 'depot' },
    syd: { role: 'depot' },
    office: { role: 'client' },
    cabin: { role: 'client' },
    flat: { role: 'client', receiveBufferBytes: 6 * MIB },
    alpha: { role: 'origin', congestionControl: 'bbr' },
    beta: { role: 'origin', congestionControl: 'cubic' },
    gamma: { role: 'origin', congestionControl: 'cubic' },
    delta: { role: 'origin', congestionControl: 'cubic' },
    'x-lon': { role: 'traffic' },
    'x-iad': { role: 'traffic' },
  },
  links: [
    link('r-iad', 'iad', 1, 500e6),
    link('r-sjc', 'sjc', 1, 500e6),
    link('r-lon', 'lon', 1, 500e6),
    link('r-tok', 'tok', 1, 500e6),
    link('r-jnb', 'jnb', 2, 200e6),
    // What everybody crosses loses here and there; some depots have cables of their own.
    link('r-iad', 'r-lon', 76, 200e6, { loss: 2e-4 }),
    link('r-iad', 'r-sjc', 62, 400e6),
    link('r-sjc', 'r-tok', 100, 200e6, { loss: 1.5e-3 }),
    link('sjc', 'tok', 112, 150e6),
    link('r-lon', 'r-jnb', 160, 100e6, { loss: 1e-3 }),
    link('r-tok', 'syd', 110, 200e6),
    link('sjc', 'syd', 150, 200e6),
    link('office', 'r-iad', 6, 100e6),
    link('cabin', 'r-sjc', 36, 16e6, { loss: 2e-4, queue: { bytes: 400_000 } }),
    link('flat', 'r-lon', 12, 70e6),
    link('alpha', 'r-lon', 4, 200e6, { loss: 1e-3 }),
    link('beta', 'r-tok', 6, 100e6),
    link('gamma', 'r-iad', 3, 200e6),
    link('delta', 'r-jnb', 14, 30e6),
    { wire: ['x-lon', 'r-lon'] },
    { wire: ['x-iad', 'r-iad'] },
  ],
};

/**
 * Depots beside the routers, clients and origins that are far from the only master, a line with a deep queue,
 * a cable of depots alone.
 */
export const CONTINENTS: UnknownWorld = {
  topology: TOPOLOGY,
  master: 'iad',
  depots: ['iad', 'sjc', 'lon', 'tok', 'jnb', 'syd'],
  clients: ['office', 'cabin', 'flat'],
  origins: ['alpha', 'beta', 'gamma', 'delta'],
  sizeBytes: 8 * MIB,
  states: {
    quiet: { label: 'as it began' },
    crossed: {
      label: 'five long flows from lon to iad',
      crossTraffic: [{ from: 'x-lon', to: 'x-iad', flows: 5 }],
    },
    broken: {
      label: 'the cable sjc-tok has 5 Mbit/s',
      changed: [{ link: ['sjc', 'tok'], to: { rateBps: 5e6 } }],
    },
  },
  spells: [
    { state: 'quiet', downloads: 48 },
    { state: 'crossed', downloads: 16, clients: ['office', 'flat'], origins: ['alpha', 'gamma'] },
    { state: 'broken', downloads: 16, clients: ['office', 'flat'], origins: ['beta'] },
  ],
};
