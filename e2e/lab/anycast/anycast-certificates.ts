import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestCa } from '../../certificates/test-ca.ts';
import type { CertificateFiles } from '../hosts/scenario-certificates.ts';
import type { Network } from '../network/network.ts';
import { MASTERS_NAME, SITE_NAMES, type SiteName } from './anycast-network.ts';

export interface AnycastCertificates {
  readonly caFile: string;
  /** Base64 of the SHA-256 of the authority's public key, by which Chromium knows it. */
  readonly spkiSha256Base64: string;
  readonly of: (site: SiteName) => CertificateFiles;
}

/** One authority, and a certificate of each site's own for the name of all masters and the address of its depot. */
export async function writeAnycastCertificates(network: Network): Promise<AnycastCertificates> {
  const ca = await createTestCa();
  const caFile = join(network.folder, 'ca.pem');
  writeFileSync(caFile, ca.certPem);
  const of = (site: SiteName) => {
    const folder = join(network.folder, site);
    return { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem'), caFile };
  };
  for (const site of SITE_NAMES) {
    const { certPem, keyPem } = await ca.issue([MASTERS_NAME, network.addressOf(site)]);
    const { certFile, keyFile } = of(site);
    mkdirSync(join(network.folder, site), { recursive: true });
    writeFileSync(certFile, certPem);
    writeFileSync(keyFile, keyPem, { mode: 0o600 });
  }
  return { caFile, spkiSha256Base64: ca.spkiSha256Base64, of };
}
