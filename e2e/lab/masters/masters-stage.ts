import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { sumMetric } from '../../overlay/overlay.ts';
import { type ServiceProcess, startProgram } from '../../overlay/service-process.ts';
import { inNetwork } from '../hosts/network-placement.ts';
import { type ClientSpawn, type Question, startAsker } from '../sites/asker.ts';
import { natsName, type SiteBus, writeSiteBus } from '../sites/site-bus.ts';
import { withNames } from '../sites/with-names.ts';
import { type Downloader, startDownloader } from './downloads.ts';
import {
  DEPOTS,
  type MastersNetwork,
  SITE_NAMES,
  type SiteName,
  startMastersNetwork,
} from './masters-network.ts';
import {
  ORIGIN_PORT,
  type OverlaySpec,
  type SiteMaster,
  startLateMaster,
  startSiteDepot,
  startSiteMaster,
} from './masters-site.ts';
import { untilRight, type View, watchView } from './view.ts';

const SITES_FOLDER = join(import.meta.dirname, '..', 'sites');
const ORIGIN_PROGRAM = join(import.meta.dirname, '..', 'hosts', 'origin-main.ts');
const FILE_BYTES = 3 * 1024 * 1024;
/** Six seconds for a file. */
const FILE_BPS = 4e6;
/** Between two questions for a redirect. */
const ASK_MS = 50;
/** Processes come up one after the other on a busy machine. */
const UP_MS = 120_000;
/** Who joins late, and who has the facts of a large overlay. Neither has a site of its own. */
const LATE = 'late';
const LARGE = 'large';
const LATE_PORT = 8001;

/** What the files come over: half of the chains stay at one site, the others lead from each site to the next. */
const CHAINS = [['rj1'], ['pe1'], ['am1'], ['rj2', 'pe2'], ['pe2', 'am2'], ['am2', 'rj2']] as const;

/**
 * Three masters at three sites, that share what they know over three NATS servers; six depots; clients that
 * ask and download all the time.
 */
export interface MastersStage extends MastersNetwork {
  readonly bus: SiteBus;
  readonly masters: Readonly<Record<SiteName, SiteMaster>>;
  /** What each master knows. */
  readonly views: Readonly<Record<SiteName, View>>;
  /** What clients have asked each master for: a redirect for another file each time. */
  readonly questions: Readonly<Record<SiteName, readonly Question[]>>;
  readonly downloaders: readonly Downloader[];
  /** Starts somebody who has heard so many other depots, and tells of them once a second. */
  readonly startLarge: (depots: number, links: number) => Promise<ServiceProcess>;
  /** Starts a master that knows nothing; it listens when this resolves. Its state is removed before. */
  readonly startLate: () => Promise<ServiceProcess>;
  readonly lateUrl: string;
  /** How much a master knows. */
  readonly knownAt: (masterUrl: string) => Promise<{ readonly depots: number; readonly links: number }>;
  readonly atClient: ClientSpawn;
  readonly close: () => Promise<void>;
}

/** Brings all of it up, and waits until every master knows every depot. */
export async function startMastersStage(): Promise<MastersStage> {
  const started = await startMastersNetwork();
  try {
    return await furnish(started);
  } catch (failure) {
    await started.network.close();
    throw failure;
  }
}

async function furnish(started: MastersNetwork): Promise<MastersStage> {
  const { network } = started;
  const originAddress = network.addressOf('origin');
  const { launchAt, getText } = inNetwork(network, (site) => site);
  const origin = ['--host', originAddress, '--port', String(ORIGIN_PORT), '--rate', String(FILE_BPS)];
  const prepared = ['--prepare', String(FILE_BYTES)];
  await startProgram([ORIGIN_PROGRAM, ...origin, ...prepared], network.folder, 'origin', launchAt('origin'));
  const names = SITE_NAMES.map((site) => [natsName(site), network.addressOf(site)] as const);
  const named = withNames(network, Object.fromEntries(names));
  const bus = await writeSiteBus({ network, sites: SITE_NAMES, guests: [LATE, LARGE], named });
  for (const site of SITE_NAMES) bus.start(site);
  const spec: OverlaySpec = { network, bus, named, secret: randomBytes(32).toString('base64url') };
  const masters: SiteMaster[] = [];
  // One after the other: all at once take longer than each is waited for, where the machine is busy.
  for (const site of SITE_NAMES) masters.push(await startSiteMaster(spec, site));
  for (const { id, site } of DEPOTS) await startSiteDepot(spec, id, site);
  const atClient: ClientSpawn = (command, stdio) => network.spawn('client', command, stdio);
  const views = masters.map(({ url }) => watchView(atClient, url));
  const ids = DEPOTS.map(({ id }) => id);
  if ((await untilRight(views, ids, Date.now(), UP_MS)) === null)
    throw new Error('the masters do not know all depots');
  const questions = masters.map(({ url }) => {
    const asked: Question[] = [];
    const path = `/get/~size=1000000000/http/${originAddress}/${FILE_BYTES}/q{n}.bin`;
    startAsker(atClient, { url: url + path, everyMs: ASK_MS }, (question) => asked.push(question));
    return asked;
  });
  const urls = masters.map(({ url }) => url);
  const downloaders = CHAINS.map((chain, index) => {
    // A client asks the nearest master first, which differs from one to the other.
    const inTurn = urls.map((_, step) => urls[(index + step) % urls.length] ?? '');
    const path = `/get/~via=${chain.join('+')}/http/${originAddress}/${FILE_BYTES}/${chain[0]}-{n}.bin`;
    return startDownloader(atClient, { chain, masters: inTurn, path, sizeBytes: FILE_BYTES });
  });
  return {
    ...started,
    bus,
    masters: bySite(masters),
    views: bySite(views),
    questions: bySite(questions),
    downloaders,
    startLarge: (depots, links) => {
      const { servers, tls, trustedCaFiles } = bus.configOf('pe', LARGE);
      const access = ['--server', servers[0] ?? '', '--ca', trustedCaFiles[0] ?? ''];
      const own = ['--site', LARGE, '--cert', tls.certFile, '--key', tls.keyFile];
      const amount = ['--depots', String(depots), '--links', String(links)];
      const program = [join(SITES_FOLDER, 'teller-main.ts'), ...access, ...own, ...amount] as const;
      return startProgram(program, network.folder, 'large', ([first, ...rest], cwd) =>
        network.spawn('pe', named([first, ...rest]), ['ignore', 'ignore', 'pipe', 'ipc'], cwd),
      );
    },
    startLate: () => startLateMaster(spec, 'am', { name: LATE, port: LATE_PORT }),
    lateUrl: `http://${network.addressOf('am')}:${LATE_PORT}`,
    knownAt: async (masterUrl) => {
      // Empty where it does not answer in time.
      const text = await getText('client', `${masterUrl}/v1/status`);
      const status = JSON.parse(text || '{"depots":[]}') as { depots: unknown[] };
      const metrics = await getText('client', `${masterUrl}/metrics`);
      return {
        depots: status.depots.length,
        links: sumMetric(metrics, 'longhaul_master_facts', { kind: 'link-measured' }),
      };
    },
    atClient,
    close: () => network.close(),
  };
}

function bySite<Value>(values: readonly Value[]): Readonly<Record<SiteName, Value>> {
  return Object.fromEntries(values.map((value, index) => [SITE_NAMES[index], value])) as Record<
    SiteName,
    Value
  >;
}
