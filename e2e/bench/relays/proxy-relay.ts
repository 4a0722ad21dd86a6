import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitForListener } from '../../lab/hosts/wait-for-listener.ts';
import type { Way } from '../traffic/traffic-order.ts';
import { onCore, RELAY_CORE, type Relay, type RelaySpec, SITE } from './relay.ts';
import type { RelayId } from './relay-id.ts';

/** What a relay's configuration is made of. */
export interface ProxyPlace {
  /** `host:port` on which it listens. */
  readonly listen: string;
  /** `host:port` of the source. */
  readonly source: string;
  /** Its own folder. */
  readonly folder: string;
}

export interface ProxyProgram {
  readonly id: RelayId;
  readonly way: Way;
  readonly leastBytes?: number;
  readonly configure: (place: ProxyPlace) => string;
  /** The command that runs it in the foreground with this configuration. */
  readonly command: (configFile: string, place: ProxyPlace) => readonly string[];
}

/** Starts another relay than ours on the relays' core, from a configuration of its own, and waits until it listens. */
export async function startProxyRelay(program: ProxyProgram, spec: RelaySpec): Promise<Relay> {
  const { network, port, sourcePort } = spec;
  const { id, way, leastBytes } = program;
  const host = network.addressOf(SITE);
  const folder = join(network.folder, id);
  mkdirSync(folder, { recursive: true });
  const place = { listen: `${host}:${port}`, source: `${host}:${sourcePort}`, folder };
  const configFile = join(folder, 'relay.conf');
  writeFileSync(configFile, program.configure(place));
  const command = onCore(RELAY_CORE, program.command(configFile, place));
  const child = network.spawn(SITE, command, ['ignore', 'ignore', 'pipe'], folder);
  await waitForListener({ network, site: SITE, port, child, name: id });
  return { id, pid: child.pid, port, way, ...(leastBytes === undefined ? {} : { leastBytes }) };
}
