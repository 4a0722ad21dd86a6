import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestCa } from '../../certificates/test-ca.ts';
import { type Overlay, startOverlay } from '../../overlay/overlay.ts';
import { startProgram } from '../../overlay/service-process.ts';
import { inNetwork } from '../hosts/network-placement.ts';
import type { Network } from '../network/network.ts';
import { startBird } from '../sites/bird.ts';
import type { ClientBrowserSpec } from '../sites/client-browser.ts';
import {
  DEPOT_NAMES,
  DEPOTS,
  type DepotName,
  type EntryNetwork,
  startEntryNetwork,
} from './entry-network.ts';

const ORIGIN_PROGRAM = join(import.meta.dirname, '..', 'hosts', 'origin-main.ts');
const NAMES_PROGRAM = join(import.meta.dirname, '..', 'sites', 'names-main.ts');
const ORIGIN_PORT = 80;
const DEPOT_PORT = 8443;
/** At the client, who looks all names up there. */
const NAME_SERVER = '127.0.0.1';
/** Three quarters of a megabyte a second: what happens to a depot happens while a file still comes. */
const PACED_BPS = 6e6;

const GROUP = { id: 'south', host: 'south.example.org' } as const;

/** A client, a master and an origin, and an entry group whose addresses two depots announce. */
export interface EntryStage extends EntryNetwork {
  readonly overlay: Overlay;
  /** What a browser at the client is to know. */
  readonly client: ClientBrowserSpec;
  /** The origin's own address of a file of this size. */
  readonly urlOf: (sizeBytes: number) => string;
  /** The bytes of files that a depot has sent to clients. */
  readonly sentBy: (depot: DepotName) => Promise<number>;
  readonly close: () => Promise<void>;
}

interface EntryStageSpec {
  readonly sizesBytes: readonly number[];
  /** Between two packets of BFD; three that are missing are a fault. */
  readonly bfdMs: number;
}

/** Brings all of it up with the files of docs/examples/entry-group. */
export async function startEntryStage(spec: EntryStageSpec): Promise<EntryStage> {
  const entry = await startEntryNetwork();
  try {
    return await furnish(entry, spec);
  } catch (failure) {
    await entry.network.close();
    throw failure;
  }
}

async function furnish(entry: EntryNetwork, { sizesBytes, bfdMs }: EntryStageSpec): Promise<EntryStage> {
  const { network } = entry;
  const placement = inNetwork(network, (service) => service);
  const originAddress = network.addressOf('origin');
  const prepared = sizesBytes.flatMap((size) => ['--prepare', String(size)]);
  const origin = ['--host', originAddress, '--port', String(ORIGIN_PORT), '--rate', String(PACED_BPS)];
  const launchOrigin = placement.launchAt('origin');
  await startProgram([ORIGIN_PROGRAM, ...origin, ...prepared], network.folder, 'origin', launchOrigin);
  const entries = DEPOT_NAMES.map((name) => DEPOTS[name].entry);
  const names = ['--host', NAME_SERVER, '--name', `${GROUP.host}=${entries.join(',')}`];
  await startProgram([NAMES_PROGRAM, ...names], network.folder, 'names', placement.launchAt('client'));
  await startRouting(network, bfdMs);
  const { files, groupTls, spkiSha256Base64 } = await writeCertificates(network);
  const overlay = await startOverlay({
    dir: network.folder,
    placement,
    depots: DEPOT_NAMES.map((id) => ({ id, host: network.addressOf(id) })),
    links: [
      { between: ['client', 'origin'], rttMs: 200, lossRate: 0.01, rateBps: 1e9 },
      ...DEPOT_NAMES.flatMap((id, index) => [
        { between: ['client', id] as const, rttMs: 1 + index, lossRate: 0, rateBps: 1e9 },
        { between: [id, 'origin'] as const, rttMs: 1, lossRate: 0, rateBps: 1e9 },
      ]),
    ],
    origins: [`${originAddress}:${ORIGIN_PORT}`],
    originNetwork: `${originAddress}/32`,
    originPorts: [ORIGIN_PORT],
    tls: files,
    masterConfig: {
      // Paced is each connection.
      planner: { explore: { share: 0 }, maxLanes: 1 },
      entryGroups: [{ ...GROUP, port: DEPOT_PORT, tls: true, depots: DEPOT_NAMES }],
    },
    // Both entry addresses, and the depot's own.
    depotConfig: { listen: { host: '0.0.0.0', port: DEPOT_PORT }, entryGroup: { ...GROUP, tls: groupTls } },
  });
  return {
    ...entry,
    overlay,
    client: {
      atClient: (command, stdio) => network.spawn('client', command, stdio),
      ca: { caFile: files.caFile, spkiSha256Base64 },
      masterUrl: overlay.master.url,
      privateHosts: [GROUP.host, ...['origin', ...DEPOT_NAMES].map(network.addressOf)],
      nameServer: NAME_SERVER,
    },
    urlOf: (sizeBytes) => `http://${originAddress}/${sizeBytes}/file.bin`,
    sentBy: (depot) => overlay.metric(depot, 'longhaul_depot_body_bytes_total'),
    close: () => network.close(),
  };
}

/** The router's BIRD, and that of each depot, which all run the examples' files. */
async function startRouting(network: Network, bfdMs: number): Promise<void> {
  await startBird({ network, site: 'router', example: 'entry-group/bird-router.conf', bfdMs });
  // The example is that of the first depot.
  const { rj } = DEPOTS;
  for (const site of DEPOT_NAMES) {
    const { cable, as, entry } = DEPOTS[site];
    const values = [
      [rj.cable[1], cable[1]],
      [`${rj.cable[0]} `, `${cable[0]} `],
      [String(rj.as), String(as)],
      [`own = ${rj.entry}`, `own = ${entry}`],
    ] as const;
    await startBird({ network, site, example: 'entry-group/bird-depot.conf', values, bfdMs });
  }
}

/** A certificate of all services' addresses, and the group's own. */
async function writeCertificates(network: Network) {
  const ca = await createTestCa();
  const write = (name: string, text: string) => {
    const file = join(network.folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const own = await ca.issue(['master', ...DEPOT_NAMES].map(network.addressOf));
  const ofGroup = await ca.issue([GROUP.host]);
  return {
    files: {
      certFile: write('cert.pem', own.certPem),
      keyFile: write('key.pem', own.keyPem),
      caFile: write('ca.pem', ca.certPem),
    },
    groupTls: {
      certFile: write('group-cert.pem', ofGroup.certPem),
      keyFile: write('group-key.pem', ofGroup.keyPem),
    },
    spkiSha256Base64: ca.spkiSha256Base64,
  };
}
