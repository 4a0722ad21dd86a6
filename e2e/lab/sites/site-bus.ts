import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createTestCa } from '../../certificates/test-ca.ts';
import { findNatsServer } from '../../programs/nats-server.ts';
import type { Network } from '../network/network.ts';
import { LabRefusal } from '../refusal.ts';
import { exampleText, fillExample } from './fill-example.ts';

/** Whoever has not ended by then is stuck. */
const END_MS = 5_000;

/** The NATS servers of some sites, with docs/examples/nats as they stand but for names. */
export interface SiteBus {
  /** Starts the server of a site. */
  readonly start: (site: string) => void;
  /** Ends it at once, as when the machine loses power. */
  readonly kill: (site: string) => Promise<void>;
  /**
   * What a master's configuration says of the bus: its own site's server first. `name` is who it speaks as,
   * usually the site.
   */
  readonly configOf: (site: string, name?: string) => SiteBusConfig;
}

export interface SiteBusConfig {
  readonly site: string;
  readonly servers: readonly string[];
  readonly tls: { readonly certFile: string; readonly keyFile: string };
  readonly trustedCaFiles: readonly string[];
}

interface SiteBusSpec {
  readonly network: Network;
  readonly sites: readonly string[];
  /** Further masters that have a certificate and a name of their own, at no site of their own. */
  readonly guests: readonly string[];
  /** Makes names known to a command. */
  readonly named: (command: readonly string[]) => readonly string[];
}

/** The name of a site's server. */
export function natsName(site: string): string {
  return `nats.${site}.example`;
}

/** Writes certificates and configurations; starts nothing. */
export async function writeSiteBus({ network, sites, guests, named }: SiteBusSpec): Promise<SiteBus> {
  const natsServer = findNatsServer();
  if (natsServer === undefined)
    throw new LabRefusal(
      'lab-needs-program',
      'nats-server is not there: run `npm run test:unit` once, which builds it.',
    );
  const ca = await createTestCa({ commonName: 'authority of the bus' });
  const folderOf = (name: string) => join(network.folder, 'bus', name);
  const authority = join(network.folder, 'bus', 'bus-authority.pem');
  const issue = async (folder: string, file: string, names: readonly string[]) => {
    const { certPem, keyPem } = await ca.issue(names);
    writeFileSync(join(folder, `${file}.pem`), certPem);
    writeFileSync(join(folder, `${file}.key`), keyPem, { mode: 0o600 });
  };
  for (const name of [...sites, ...guests]) {
    const folder = folderOf(name);
    mkdirSync(folder, { recursive: true });
    await issue(folder, 'bus', [`master.${name}.example`]);
    if (!sites.includes(name)) continue;
    await issue(folder, 'nats', [natsName(name)]);
    const routes = sites.filter((site) => site !== name).map((site) => `"nats://${natsName(site)}:6222"`);
    fillExample(folder, 'nats/nats-server.conf', [
      ['server_name: rj', `server_name: ${name}`],
      ['"nats://nats.pe.example:6222"', routes.join('\n    ')],
      ['bus-authority.pem', authority],
    ]);
    writeFileSync(join(folder, 'sites.conf'), permissionsOf([...sites, ...guests]));
  }
  writeFileSync(authority, ca.certPem);
  const running = new Map<string, ChildProcess>();
  const { bus } = parse(exampleText('nats/bus.yaml')) as { bus: object };
  return {
    start: (site) => {
      const folder = folderOf(site);
      const log = openSync(join(folder, 'nats-server.log'), 'a');
      const command = named([natsServer, '-c', 'nats-server.conf']);
      running.set(site, network.spawn(site, command, ['ignore', log, log], folder));
    },
    kill: async (site) => {
      const child = running.get(site);
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit', { signal: AbortSignal.timeout(END_MS) });
      child.kill('SIGKILL');
      await ended;
    },
    configOf: (site, name = site) => ({
      ...bus,
      site: name,
      servers: [site, ...sites.filter((other) => other !== site)].map((at) => `tls://${natsName(at)}:4222`),
      tls: { certFile: join(folderOf(name), 'bus.pem'), keyFile: join(folderOf(name), 'bus.key') },
      trustedCaFiles: [authority],
    }),
  };
}

/** `sites.conf` with what the examples let the site rj do, for each of these. */
function permissionsOf(names: readonly string[]): string {
  const [ofRj] =
    /^ {4}\{\n {6}user: "master\.rj\.example"[^]*?^ {4}\}\n/m.exec(exampleText('nats/sites.conf')) ?? [];
  if (ofRj === undefined) throw new Error('sites.conf of the examples does not say what the site rj may do');
  return `authorization {\n  users: [\n${names.map((name) => ofRj.replaceAll('rj', name)).join('')}  ]\n}\n`;
}
