import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ServiceProcess, startProgram } from '../../overlay/service-process.ts';
import type { Network } from '../network/network.ts';
import { inNetwork } from './network-placement.ts';
import type { CertificateFiles } from './scenario-certificates.ts';

const ORIGIN_PROGRAM = join(import.meta.dirname, 'origin-main.ts');

/**
 * Starts the lab's origin at a site, with files of these sizes ready. Several of one network have folders of
 * their own.
 */
export async function startOriginAt(
  network: Network,
  site: string,
  sizes: ReadonlySet<number>,
  certificates?: CertificateFiles,
): Promise<ServiceProcess> {
  const host = network.addressOf(site);
  const folder = join(network.folder, `origin-${site}`);
  mkdirSync(folder, { recursive: true });
  const tls = certificates ? ['--cert', certificates.certFile, '--key', certificates.keyFile] : [];
  // Otherwise the first transfer would wait until its file is made.
  const prepared = [...sizes].flatMap((sizeBytes) => ['--prepare', String(sizeBytes)]);
  const command = ['--host', host, '--port', certificates ? '443' : '80', ...tls, ...prepared];
  return startProgram(
    [ORIGIN_PROGRAM, ...command],
    folder,
    'origin',
    inNetwork(network, () => site).launchAt('origin'),
  );
}
