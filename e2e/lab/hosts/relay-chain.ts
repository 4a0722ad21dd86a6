import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Network } from '../network/network.ts';
import { type LabProgram, requireProgram } from '../programs.ts';
import type { CertificateFiles } from './scenario-certificates.ts';
import { waitForListener } from './wait-for-listener.ts';

/** Where a rival's relays stand and what they lead to. */
export interface RelayChainSpec {
  readonly network: Network;
  /** From the client on, at least one. */
  readonly sites: readonly string[];
  /** Where each relay listens. */
  readonly port: number;
  readonly originAddress: string;
  readonly originPort: number;
  /** The origin speaks TLS, and so does the first relay; where relays end it, there is none between them. */
  readonly certificates?: CertificateFiles | undefined;
}

export interface RelayChain {
  /** The base URL that a client gives to the first relay, without a slash at its end. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export interface RelayHop {
  readonly listenAddress: string;
  readonly port: number;
  readonly nextAddress: string;
  readonly nextPort: number;
  /** Of this relay alone. */
  readonly folder: string;
  /** For its listener, where clients speak TLS with it. */
  readonly listenTls: CertificateFiles | undefined;
  /** Where it speaks TLS with what comes next. */
  readonly nextTls: CertificateFiles | undefined;
}

export interface RelayProgram {
  readonly program: LabProgram;
  readonly configure: (hop: RelayHop) => string;
  /** Whether it ends the client's TLS and begins its own; otherwise TLS passes through. */
  readonly endsTls: boolean;
  /** Arguments that keep it in the foreground and away from the system's own instance. */
  readonly args: (configFile: string, folder: string) => readonly string[];
}

/** A relay that has not ended by then is killed. */
const STOP_TIMEOUT_MS = 2000;

/**
 * Starts one relay at every site, each leading to the next and the last to the origin, and waits until all listen.
 * @throws {LabRefusal} `lab-needs-program` when the program is not installed.
 */
export async function startRelayChain(spec: RelayChainSpec, relay: RelayProgram): Promise<RelayChain> {
  const { network, sites, port } = spec;
  const [first] = sites;
  if (first === undefined) throw new Error('a chain of relays needs at least one site');
  const path = requireProgram(relay.program);
  const children: ChildProcess[] = [];
  const stop = async () => {
    await Promise.all(children.map(endChild));
  };
  try {
    const starts = sites.map((site, index) => {
      const next = sites[index + 1];
      const folder = join(network.folder, `${relay.program}-${port}-${site}`);
      mkdirSync(folder, { recursive: true });
      const configFile = join(folder, `${relay.program}.conf`);
      const config = relay.configure({
        listenAddress: network.addressOf(site),
        port,
        nextAddress: next === undefined ? spec.originAddress : network.addressOf(next),
        nextPort: next === undefined ? spec.originPort : port,
        folder,
        listenTls: relay.endsTls && index === 0 ? spec.certificates : undefined,
        nextTls: relay.endsTls && next === undefined ? spec.certificates : undefined,
      });
      writeFileSync(configFile, config);
      const command = [path, ...relay.args(configFile, folder)];
      const child = network.spawn(site, command, ['ignore', 'ignore', 'pipe'], folder);
      children.push(child);
      return waitForListener({ network, site, port, child, name: `${relay.program} at ${site}` });
    });
    await Promise.all(starts);
  } catch (failure) {
    await stop();
    throw failure;
  }
  return { url: `${spec.certificates ? 'https' : 'http'}://${network.addressOf(first)}:${port}`, stop };
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}
