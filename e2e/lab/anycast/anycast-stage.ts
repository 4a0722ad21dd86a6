import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sumMetric } from '../../overlay/overlay.ts';
import { startProgram } from '../../overlay/service-process.ts';
import { inNetwork } from '../hosts/network-placement.ts';
import type { ClientSpawn } from '../sites/asker.ts';
import { startBird } from '../sites/bird.ts';
import { withNames } from '../sites/with-names.ts';
import { type AnycastCertificates, writeAnycastCertificates } from './anycast-certificates.ts';
import {
  type AnycastNetwork,
  MASTERS_ADDRESS,
  MASTERS_NAME,
  ORIGIN_PORTS,
  SITE_NAMES,
  type SiteName,
  startAnycastNetwork,
} from './anycast-network.ts';
import { type AnycastSite, startAnycastSite } from './anycast-site.ts';
import { type Prober, startProber } from './probe.ts';

const ORIGIN_PROGRAM = join(import.meta.dirname, '..', 'hosts', 'origin-main.ts');
/** Twenty seconds for 10 MB: whatever happens to the nearest site then happens while it still comes. */
const PACED_BPS = 4e6;
/** Processes come up one after the other on a busy machine. */
const UP_MS = 120_000;
const LOOK_MS = 200;

export const MASTERS_URL = `https://${MASTERS_NAME}`;

/** Three sites behind one address, a client that asks all the time, and an origin. */
export interface AnycastStage extends AnycastNetwork {
  readonly certificates: AnycastCertificates;
  readonly sites: Readonly<Record<SiteName, AnycastSite>>;
  /** What announces the address of each site. */
  readonly announcers: Readonly<Record<SiteName, ChildProcess>>;
  readonly prober: Prober;
  /** Starts a program at the client, which finds the masters under their name. */
  readonly atClient: ClientSpawn;
  /** The origin's file of this size, by way of the masters; over a site's depot, or as they plan. */
  readonly urlOf: (sizeBytes: number, via?: SiteName) => string;
  /**
   * The same file at the origin itself, which sends it slowly, but as fast as it can to the other sites than
   * the nearest.
   */
  readonly pacedUrlOf: (sizeBytes: number) => string;
  /** The bytes of files that the depot of a site has sent to clients. */
  readonly sentBy: (site: SiteName) => Promise<number>;
  /** The states of the depots as the master of a site tells them. */
  readonly depotsAt: (site: SiteName) => Promise<Readonly<Record<string, string>>>;
  readonly close: () => Promise<void>;
}

interface AnycastStageSpec {
  readonly sizesBytes: readonly number[];
  readonly probeEveryMs: number;
  /** Between two packets of BFD; three that are missing are a fault. */
  readonly bfdMs: number;
}

/** Brings all of it up, and waits until the nearest site answers and every master knows every depot. */
export async function startAnycastStage(spec: AnycastStageSpec): Promise<AnycastStage> {
  const anycast = await startAnycastNetwork();
  try {
    return await furnish(anycast, spec);
  } catch (failure) {
    await anycast.network.close();
    throw failure;
  }
}

async function furnish(
  anycast: AnycastNetwork,
  { sizesBytes, probeEveryMs, bfdMs }: AnycastStageSpec,
): Promise<AnycastStage> {
  const { network } = anycast;
  const certificates = await writeAnycastCertificates(network);
  const originAddress = network.addressOf('origin');
  const prepared = sizesBytes.flatMap((size) => ['--prepare', String(size)]);
  const { launchAt, getText } = inNetwork(network, (site) => site);
  for (const [pace, port] of Object.entries(ORIGIN_PORTS)) {
    const options = ['--host', originAddress, '--port', String(port), ...prepared];
    if (pace === 'paced') {
      const others = SITE_NAMES.filter((site) => site !== 'rj');
      options.push('--rate', String(PACED_BPS));
      options.push(...others.flatMap((site) => ['--full-rate-to', network.addressOf(site)]));
    }
    await startProgram([ORIGIN_PROGRAM, ...options], network.folder, `origin-${pace}`, launchAt('origin'));
  }
  await startBird({ network, site: 'router', example: 'anycast/bird-router.conf', bfdMs });
  const secret = randomBytes(32).toString('base64url');
  const started: AnycastSite[] = [];
  // One after the other: all at once take longer than each is waited for, where the machine is busy.
  for (const name of SITE_NAMES)
    started.push(
      await startAnycastSite({
        name,
        network,
        certificates: certificates.of(name),
        originAddress,
        secret,
        bfdMs,
      }),
    );
  const sites = Object.fromEntries(started.map((site) => [site.name, site])) as Record<SiteName, AnycastSite>;
  const announcers = Object.fromEntries(started.map(({ name, announce }) => [name, announce()])) as Record<
    SiteName,
    ChildProcess
  >;
  const depotsAt = async (site: SiteName) => {
    const text = await getText(site, 'https://127.0.0.1/v1/status');
    const { depots } = JSON.parse(text) as { depots: readonly { id: string; state: string }[] };
    return Object.fromEntries(depots.map(({ id, state }) => [id, state]));
  };
  for (const site of SITE_NAMES) await untilAllUp(site, depotsAt);
  const named = withNames(network, { [MASTERS_NAME]: MASTERS_ADDRESS });
  const atClient: ClientSpawn = (command, stdio) => network.spawn('client', named(command), stdio);
  const prober = startProber(atClient, MASTERS_URL, certificates.caFile, probeEveryMs);
  await prober.answerOf('rj', Date.now(), UP_MS);
  return {
    ...anycast,
    certificates,
    sites,
    announcers,
    prober,
    urlOf: (sizeBytes, via) =>
      `${MASTERS_URL}/get/${via ? `~via=${via}/` : ''}http/${originAddress}/${sizeBytes}/file.bin`,
    pacedUrlOf: (sizeBytes) => `http://${originAddress}:${ORIGIN_PORTS.paced}/${sizeBytes}/file.bin`,
    sentBy: async (site) =>
      sumMetric(
        await getText(site, `${sites[site].depot.url}/metrics`),
        'longhaul_depot_body_bytes_total',
        {},
      ),
    atClient,
    depotsAt,
    close: () => network.close(),
  };
}

async function untilAllUp(site: SiteName, depotsAt: AnycastStage['depotsAt']): Promise<void> {
  const deadlineMs = performance.now() + UP_MS;
  for (;;) {
    const states = await depotsAt(site).catch((failure: unknown) => ({ failure: String(failure) }));
    const up = Object.values(states).filter((state) => state === 'up').length;
    if (up === SITE_NAMES.length) return;
    if (performance.now() > deadlineMs)
      throw new Error(`the master of ${site} does not know all depots: ${JSON.stringify(states)}`);
    await delay(LOOK_MS);
  }
}
