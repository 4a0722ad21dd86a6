import { createHash } from 'node:crypto';
import { closeSync, ftruncateSync, futimesSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestCa, type KeyedCertificate } from '../../certificates/test-ca.ts';
import { waitForListener } from '../../lab/hosts/wait-for-listener.ts';
import type { Network } from '../../lab/network/network.ts';
import { requireProgram } from '../../lab/programs.ts';
import { onCore, SITE, TRAFFIC_CORE } from '../relays/relay.ts';
import type { CaseStage } from './bench-case.ts';

const HTTP_PORT = 9100;
const HTTPS_PORT = 9101;
/** Where a client serves its own body. */
export const STEADY_PORT = 9102;

/** Sizes of the files that cases ask for. */
export const SMALL_BYTES = 1000;
export const MANY_BYTES = 8_000_000;
export const QUICK_LARGE_BYTES = 100_000_000;
export const LARGE_BYTES = 500_000_000;
export const LANE_BYTES = 1_000_000_000;
const SIZES = [SMALL_BYTES, MANY_BYTES, QUICK_LARGE_BYTES, LARGE_BYTES, LANE_BYTES];
/** Hashing goes on in pieces of so many zeros. */
const ZEROS = Buffer.alloc(1_000_000);
/** Of the source: more than any case has. */
const MOST_CONNECTIONS = 8192;

/**
 * Makes the certificates, and an origin on the traffic's core: nginx with files of zeros, over http and
 * https, with ranges.
 */
export async function openCaseStage(network: Network, isQuick: boolean): Promise<CaseStage> {
  const host = network.addressOf(SITE);
  const ca = await createTestCa();
  const [ecdsa, rsa] = await Promise.all([ca.issue([host], 'ecdsa-p256'), ca.issue([host], 'rsa-2048')]);
  const files = (name: string, { certPem, keyPem }: KeyedCertificate) => {
    const folder = join(network.folder, name);
    mkdirSync(folder, { recursive: true });
    const written = {
      certFile: join(folder, 'cert.pem'),
      keyFile: join(folder, 'key.pem'),
      caFile: join(folder, 'ca.pem'),
      /** HAProxy wants both in one. */
      bothFile: join(folder, 'both.pem'),
    };
    writeFileSync(written.certFile, certPem);
    writeFileSync(written.keyFile, keyPem, { mode: 0o600 });
    writeFileSync(written.caFile, ca.certPem);
    writeFileSync(written.bothFile, certPem + keyPem, { mode: 0o600 });
    return written;
  };
  const certificates = { ecdsa: files('ecdsa', ecdsa), rsa: files('rsa', rsa) };
  const folder = join(network.folder, 'case-origin');
  const root = join(folder, 'files');
  mkdirSync(root, { recursive: true });
  for (const sizeBytes of SIZES) writeZeros(join(root, `b${sizeBytes}`), sizeBytes);
  const configFile = join(folder, 'nginx.conf');
  writeFileSync(configFile, originConfig(host, folder, certificates.ecdsa));
  const program = requireProgram('nginx');
  const command = [program, '-p', `${folder}/`, '-e', `${folder}/error.log`, '-c', configFile];
  const child = network.spawn(SITE, onCore(TRAFFIC_CORE, command), ['ignore', 'ignore', 'pipe'], folder);
  await waitForListener({ network, site: SITE, port: HTTPS_PORT, child, name: 'the origin of the cases' });
  const origin = { httpPort: HTTP_PORT, httpsPort: HTTPS_PORT };
  return { network, host, origin, certificates, isQuick };
}

/**
 * When the files are said to have been written: one of a minute ago may still be, and is asked for by one
 * connection.
 */
const WRITTEN = new Date('2026-11-01T12:00:00Z');

/** A file that takes no room on the disk. */
function writeZeros(file: string, sizeBytes: number): void {
  const descriptor = openSync(file, 'w');
  ftruncateSync(descriptor, sizeBytes);
  futimesSync(descriptor, WRITTEN, WRITTEN);
  closeSync(descriptor);
}

function originConfig(
  host: string,
  folder: string,
  { certFile, keyFile }: { readonly certFile: string; readonly keyFile: string },
): string {
  const stated = SIZES.map(
    (sizeBytes) => `    location = /stated/b${sizeBytes} {
      alias ${folder}/files/b${sizeBytes};
      add_header Repr-Digest "sha-256=:${digestOfZeros(sizeBytes)}:";
    }
    location = /whole/b${sizeBytes} {
      alias ${folder}/files/b${sizeBytes};
      max_ranges 0;
      etag off;
      add_header Last-Modified "";
    }
`,
  );
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `user root;
daemon off;
master_process off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections ${MOST_CONNECTIONS}; }
http {
  access_log off;
  sendfile on;
  tcp_nodelay on;
  keepalive_requests 1000000;
  default_type application/octet-stream;
${temporary.map((name) => `  ${name}_temp_path ${folder}/${name};\n`).join('')}
  server {
    listen ${host}:${HTTP_PORT} backlog=4096;
    listen ${host}:${HTTPS_PORT} ssl backlog=4096;
    ssl_certificate ${certFile};
    ssl_certificate_key ${keyFile};
    ssl_protocols TLSv1.3;
    root ${folder}/files;
${stated.join('')}  }
}
`;
}

function digestOfZeros(sizeBytes: number): string {
  const hash = createHash('sha256');
  for (let done = 0; done < sizeBytes; done += ZEROS.length)
    hash.update(ZEROS.subarray(0, Math.min(ZEROS.length, sizeBytes - done)));
  return hash.digest('base64');
}
