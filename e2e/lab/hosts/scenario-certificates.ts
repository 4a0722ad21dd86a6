import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestCa } from '../../certificates/test-ca.ts';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
}

/** A certificate for all these addresses, and the authority behind it, as PEM files in `folder`. */
export async function writeCertificates(
  folder: string,
  addresses: readonly string[],
): Promise<CertificateFiles> {
  const ca = await createTestCa();
  const { certPem, keyPem } = await ca.issue(addresses);
  const files = {
    certFile: join(folder, 'cert.pem'),
    keyFile: join(folder, 'key.pem'),
    caFile: join(folder, 'ca.pem'),
  };
  writeFileSync(files.certFile, certPem);
  writeFileSync(files.keyFile, keyPem, { mode: 0o600 });
  writeFileSync(files.caFile, ca.certPem);
  return files;
}
