import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitForListener } from '../../lab/hosts/wait-for-listener.ts';
import { requireProgram } from '../../lab/programs.ts';
import { onCore, RELAY_CORE, SITE } from '../relays/relay.ts';
import type { CaseCertificate, CaseStage } from './bench-case.ts';

/** Other people's relays with TLS towards their clients. */
export type TlsProxyId = 'nginx' | 'haproxy' | 'node';

export interface TlsProxySpec {
  readonly id: TlsProxyId;
  readonly port: number;
  readonly certificate: CaseCertificate;
  /** Whether it asks the origin by TLS, and verifies its certificate. */
  readonly isOriginSecure: boolean;
  /** Default that of the scheme. */
  readonly originPort?: number;
  /** Workers or threads; with more than one it is not pinned. */
  readonly workers: number;
}

export interface TlsProxy {
  readonly pid: number;
  /** `https://host:port`, before a path of the origin. */
  readonly url: string;
  readonly stop: () => void;
}

interface Place extends TlsProxySpec {
  readonly host: string;
  readonly folder: string;
  readonly originPort: number;
}

const NODE_MAIN = join(import.meta.dirname, 'tls-pipe-main.ts');

/** Starts one on the relay's core and waits until it listens. */
export async function startTlsProxy(stage: CaseStage, spec: TlsProxySpec): Promise<TlsProxy> {
  const { network, host, origin } = stage;
  const { id, port, isOriginSecure, workers } = spec;
  const folder = join(network.folder, `${id}-${port}`);
  mkdirSync(folder, { recursive: true });
  const originPort = spec.originPort ?? (isOriginSecure ? origin.httpsPort : origin.httpPort);
  const place = { ...spec, host, folder, originPort };
  const command = commandOf(place);
  const pinned = workers > 1 ? command : onCore(RELAY_CORE, command);
  const child = network.spawn(SITE, pinned, ['ignore', 'ignore', 'pipe'], folder);
  await waitForListener({ network, site: SITE, port, child, name: id });
  return { pid: child.pid ?? 0, url: `https://${host}:${port}`, stop: () => void child.kill() };
}

function commandOf(place: Place): string[] {
  const { id, host, port, folder, originPort, certificate, isOriginSecure } = place;
  const configFile = join(folder, 'relay.conf');
  if (id === 'nginx') {
    writeFileSync(configFile, nginxConfig(place));
    return [requireProgram('nginx'), '-p', `${folder}/`, '-e', `${folder}/error.log`, '-c', configFile];
  }
  if (id === 'haproxy') {
    writeFileSync(configFile, haproxyConfig(place));
    return [requireProgram('haproxy'), '-db', '-f', configFile];
  }
  const scheme = isOriginSecure ? 'https' : 'http';
  const { certFile, keyFile, caFile } = certificate;
  return [
    process.execPath,
    NODE_MAIN,
    host,
    String(port),
    `${scheme}://${host}:${originPort}`,
    certFile,
    keyFile,
    caFile,
  ];
}

/** Room for all connections of a case at once. */
const MOST_CONNECTIONS = 8192;

/**
 * Buffers of a quarter of a megabyte, as in the rows without TLS; a ring of keys for tickets that is
 * everybody's default.
 */
function nginxConfig({
  host,
  port,
  folder,
  originPort,
  certificate,
  isOriginSecure,
  workers,
}: Place): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `user root;
daemon off;
master_process ${workers > 1 ? 'on' : 'off'};
worker_processes ${workers};
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections ${MOST_CONNECTIONS}; }
http {
  access_log off;
${temporary.map((name) => `  ${name}_temp_path ${folder}/${name};\n`).join('')}  upstream origin {
    server ${host}:${originPort};
    keepalive 64;
  }
  server {
    listen ${host}:${port} ssl backlog=4096${workers > 1 ? ' reuseport' : ''};
    ssl_certificate ${certificate.certFile};
    ssl_certificate_key ${certificate.keyFile};
    ssl_protocols TLSv1.3;
    ssl_session_cache shared:tls:10m;
    location / {
      proxy_pass ${isOriginSecure ? 'https' : 'http'}://origin;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host ${host}:${originPort};
      proxy_buffering on;
      proxy_buffer_size 256k;
      proxy_buffers 4 256k;
      proxy_busy_buffers_size 512k;
      proxy_max_temp_file_size 0;
${isOriginSecure ? `      proxy_ssl_verify on;\n      proxy_ssl_trusted_certificate ${certificate.caFile};\n      proxy_ssl_name ${host};\n      proxy_ssl_protocols TLSv1.3;\n` : ''}    }
  }
}
`;
}

function haproxyConfig({ host, port, originPort, certificate, isOriginSecure, workers }: Place): string {
  const verified = isOriginSecure ? ` ssl verify required ca-file ${certificate.caFile}` : '';
  return `global
  nbthread ${workers}
  maxconn ${MOST_CONNECTIONS}
  tune.ssl.default-dh-param 2048

defaults
  mode http
  option http-keep-alive
  timeout connect 10s
  timeout client 1h
  timeout server 1h

listen relay
  bind ${host}:${port} ssl crt ${certificate.bothFile} ssl-min-ver TLSv1.3 backlog 4096
  server origin ${host}:${originPort}${verified}
`;
}
