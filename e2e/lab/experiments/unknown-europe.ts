import { MIB } from '@longhaul/shared';
import type { Topology } from '../network/topology.ts';
import { worldLink as link, type UnknownWorld } from './unknown-world.ts';

const TOPOLOGY: Topology = {
  name: 'seven depots on four continents, clients in Europe, origins everywhere',
  sites: {
    ams: { role: 'depot' },
    fra: { role: 'depot' },
    mad: { role: 'depot' },
    nyc: { role: 'depot' },
    sfo: { role: 'depot' },
    sin: { role: 'depot' },
    gru: { role: 'depot' },
    campus: { role: 'client' },
    home: { role: 'client' },
    village: { role: 'client', receiveBufferBytes: MIB / 2 },
    near: { role: 'origin', congestionControl: 'cubic' },
    archive: { role: 'origin', congestionControl: 'cubic' },
    store: { role: 'origin', congestionControl: 'bbr' },
    mirror: { role: 'origin', congestionControl: 'cubic' },
    museum: { role: 'origin', congestionControl: 'cubic' },
    'x-ams': { role: 'traffic' },
    'x-nyc': { role: 'traffic' },
  },
  links: [
    link('ams', 'fra', 8, 1e9),
    link('ams', 'mad', 30, 1e9),
    link('fra', 'mad', 28, 1e9),
    link('ams', 'nyc', 80, 100e6),
    link('mad', 'nyc', 92, 300e6),
    link('nyc', 'sfo', 66, 1e9),
    link('fra', 'sin', 160, 300e6, { loss: 5e-4 }),
    link('sfo', 'sin', 170, 300e6),
    link('nyc', 'gru', 112, 300e6, { loss: 1e-3 }),
    link('mad', 'gru', 190, 300e6),
    link('campus', 'ams', 4, 60e6),
    link('home', 'ams', 14, 40e6, { loss: 3e-4 }),
    link('village', 'fra', 24, 30e6, { loss: 7e-4 }),
    link('near', 'fra', 4, 200e6),
    link('archive', 'nyc', 4, 200e6, { loss: 1e-4 }),
    link('store', 'sfo', 6, 200e6),
    link('mirror', 'sin', 6, 200e6),
    link('museum', 'gru', 10, 200e6, { loss: 1e-4 }),
    { wire: ['x-ams', 'ams'] },
    { wire: ['x-nyc', 'nyc'] },
  ],
};

/** Clients near the only master, depots on the ways, a link that narrows. */
export const EUROPE: UnknownWorld = {
  topology: TOPOLOGY,
  master: 'ams',
  depots: ['ams', 'fra', 'mad', 'nyc', 'sfo', 'sin', 'gru'],
  clients: ['campus', 'home', 'village'],
  origins: ['near', 'archive', 'store', 'mirror', 'museum'],
  sizeBytes: 8 * MIB,
  states: {
    quiet: { label: 'as it began' },
    crossed: {
      label: 'six long flows from nyc to ams',
      crossTraffic: [{ from: 'x-nyc', to: 'x-ams', flows: 6 }],
    },
    narrowed: {
      label: 'nyc-gru has 10 Mbit/s in place of 300',
      changed: [{ link: ['nyc', 'gru'], to: { rateBps: 10e6 } }],
    },
  },
  spells: [
    { state: 'quiet', downloads: 60 },
    { state: 'crossed', downloads: 24, clients: ['campus', 'home'], origins: ['archive', 'store'] },
    { state: 'quiet', downloads: 36 },
    { state: 'narrowed', downloads: 20, clients: ['campus', 'home'], origins: ['museum'] },
  ],
};
