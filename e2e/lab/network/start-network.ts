import type { Emulator } from '../emulator/emulator.ts';
import { LabRefusal } from '../refusal.ts';
import { labObstacle } from '../requirements.ts';
import { checkTopology, describeReceiveBuffer, isReceiveBuffer } from './check-topology.ts';
import { allowCongestionControls, restoreCongestionControls } from './congestion-controls.ts';
import { startCrossTraffic } from './cross-traffic.ts';
import { connectSites, createSites, linkName, startLinks } from './lay-network.ts';
import { claimLab, type Lab, removeLab, removeLeftovers } from './leftovers.ts';
import { sendDrops, setSysctls } from './namespaces.ts';
import type { Network } from './network.ts';
import { siteAddresses } from './routes.ts';
import { SiteProcesses } from './site-processes.ts';
import { congestionControlSysctl, receiveBufferSysctl } from './site-settings.ts';
import type { EmulatedLink, Topology } from './topology.ts';

/** Of this process; what `closeAllNetworks` closes. */
const living = new Map<Lab, () => Promise<void>>();

/** Closes every network that this process has, also those that are still coming up. Never rejects. */
export async function closeAllNetworks(): Promise<void> {
  await Promise.allSettled([...living.values()].map((close) => close()));
}

// Whatever ends the process without waiting, `process.exit` or an exception that nobody caught.
process.on('exit', () => {
  if (living.size === 0) return;
  for (const lab of living.keys()) removeLab(lab);
  restoreCongestionControls();
});

/**
 * Brings a topology to life: a namespace for each site, wires, emulated links, routes of least round-trip time. Rejects
 * with a `LabRefusal` for what a user can correct; a network that does not come up leaves nothing behind.
 */
export async function startNetwork(
  topology: Topology,
  { seed }: { readonly seed: number },
): Promise<Network> {
  checkTopology(topology);
  const obstacle = labObstacle();
  if (obstacle) throw obstacle;
  removeLeftovers();
  const lab = claimLab();
  const processes = new SiteProcesses();
  let emulator: Promise<Emulator | undefined> = Promise.resolve(undefined);
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= (async () => {
      await processes.endAll();
      // When it did not start there is nothing to stop, and who started it has the reason.
      await (await emulator.catch(() => undefined))?.stop();
      removeLab(lab);
      living.delete(lab);
      restoreCongestionControls();
    })();
    return closing;
  };
  living.set(lab, close);
  try {
    createSites(topology, lab);
    emulator = startLinks(topology, lab, seed);
    const started = await emulator;
    // Without links nothing that runs at the sites can go on: whoever waits for it hears at once.
    void started?.ended.then(({ isExpected }) => (isExpected ? undefined : processes.endAll()));
    if (closing) throw new Error(`the network '${topology.name}' was closed while it came up`);
    connectSites(topology, lab);
    // An emulator that has ended meanwhile took its devices along: better to hear of it now than of lost connections.
    await started?.takeLateness();
    return assemble(topology, lab, processes, started, close);
  } catch (failure) {
    await close();
    throw failure;
  }
}

function assemble(
  topology: Topology,
  lab: Lab,
  processes: SiteProcesses,
  emulator: Emulator | undefined,
  close: () => Promise<void>,
): Network {
  const addresses = siteAddresses(topology);
  const addressOf = (site: string) => addresses.get(site) ?? refuseSite(topology, site);
  const namespaceOf = (site: string) => {
    addressOf(site);
    return `${lab.prefix}-${site}`;
  };
  const network = {
    topology,
    ...lab,
    addressOf,
    spawn: (site, command, stdio, cwd) => processes.spawn(namespaceOf(site), command, stdio, cwd),
    setReceiveBuffer: (site, bytes) => {
      if (!isReceiveBuffer(bytes))
        throw new LabRefusal('lab-input-invalid', `Correct ${describeReceiveBuffer(bytes)}.`);
      setSysctls(namespaceOf(site), [receiveBufferSysctl(bytes)]);
    },
    setCongestionControl: (site, name) => {
      allowCongestionControls([name]);
      setSysctls(namespaceOf(site), [congestionControlSysctl(name)]);
    },
    setLink: async ({ from, to, direction }, change) => {
      const link = findLink(topology, from, to);
      const isReversed = link.between[0] !== from;
      const opposite = direction === 'forward' ? 'backward' : 'forward';
      const asDeclared = direction === 'both' || !isReversed ? direction : opposite;
      await emulator?.set(linkName(link), asDeclared, change);
    },
    reseed: async (seed) => emulator?.reseed(seed),
    takeLateness: async () => (await emulator?.takeLateness()) ?? 0,
    countersOf: async (from, to) => {
      const link = findLink(topology, from, to);
      const counters = (await emulator?.counters())?.links[linkName(link)];
      if (!counters) throw new Error(`the emulator has no counters for ${linkName(link)}`);
      return link.between[0] === from ? counters.forward : counters.backward;
    },
    emulatorPid: emulator?.pid,
    deviceDrops: () =>
      Object.keys(topology.sites).reduce((sum, site) => sum + sendDrops(namespaceOf(site)), 0),
    startCrossTraffic: (traffic) => startCrossTraffic(network, traffic),
    close,
  } satisfies Network as Network;
  return network;
}

function refuseSite({ name, sites }: Topology, site: string): never {
  throw new LabRefusal(
    'lab-input-invalid',
    `The topology '${name}' has no site '${site}': name one of ${Object.keys(sites).join(', ')}.`,
  );
}

function findLink({ name, links }: Topology, from: string, to: string): EmulatedLink {
  const emulated = links.flatMap((link) => ('wire' in link ? [] : [link]));
  const found = emulated.find(({ between }) => between.includes(from) && between.includes(to) && from !== to);
  if (found) return found;
  throw new LabRefusal(
    'lab-input-invalid',
    `The topology '${name}' has no emulated link ${from}-${to}: name one of ${emulated.map(linkName).join(', ')}.`,
  );
}
