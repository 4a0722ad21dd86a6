import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RelayChain, type RelayChainSpec, type RelayHop, startRelayChain } from './relay-chain.ts';

/**
 * HAProxy in TCP mode as a chain of relays, with splice and one thread: the fastest plain relay there is. A relay
 * connects onwards as soon as it is connected to, and TLS passes through it.
 */
export function startHaproxyChain(spec: RelayChainSpec): Promise<RelayChain> {
  return startChain(spec, passingBytes, false);
}

/**
 * HAProxy in HTTP mode, with splice: connections to the next relay are kept for later requests, so that only
 * the client's own is new. It ends the client's TLS at the first relay.
 */
export function startKeptHaproxyChain(spec: RelayChainSpec): Promise<RelayChain> {
  return startChain(spec, keepingConnections, true);
}

function startChain(
  spec: RelayChainSpec,
  configure: (hop: RelayHop) => string,
  endsTls: boolean,
): Promise<RelayChain> {
  return startRelayChain(spec, {
    program: 'haproxy',
    configure: (hop) => COMMON + configure(hop),
    args: (configFile) => ['-db', '-f', configFile],
    endsTls,
  });
}

const COMMON = `global
  nbthread 1
  maxconn 1000
  tune.pipesize 1048576

defaults
  option splice-auto
  option splice-request
  option splice-response
  timeout connect 30s
  timeout client 1h
  timeout server 1h
`;

function passingBytes({ listenAddress, port, nextAddress, nextPort }: RelayHop): string {
  return `  mode tcp

listen relay
  bind ${listenAddress}:${port}
  server next ${nextAddress}:${nextPort}
`;
}

function keepingConnections(hop: RelayHop): string {
  const { listenAddress, port, nextAddress, nextPort, nextTls } = hop;
  return `  mode http
  option http-keep-alive
  http-reuse always
  timeout http-keep-alive 1h

listen relay
  bind ${listenAddress}:${port}${bindTls(hop)}
  server next ${nextAddress}:${nextPort} pool-purge-delay 1h${nextTls ? ` ssl verify required ca-file ${nextTls.caFile}` : ''}
`;
}

/** HAProxy wants certificate and key in one file. */
function bindTls({ listenTls, folder }: RelayHop): string {
  if (!listenTls) return '';
  const file = join(folder, 'both.pem');
  writeFileSync(file, readFileSync(listenTls.certFile, 'utf8') + readFileSync(listenTls.keyFile, 'utf8'), {
    mode: 0o600,
  });
  return ` ssl crt ${file}`;
}
