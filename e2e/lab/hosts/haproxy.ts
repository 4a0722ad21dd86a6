import { type RelayChain, type RelayChainSpec, type RelayHop, startRelayChain } from './relay-chain.ts';

/**
 * HAProxy in TCP mode as a chain of relays, with splice and one thread: the fastest plain relay there is. A relay
 * connects onwards as soon as it is connected to, and TLS passes through it.
 */
export function startHaproxyChain(spec: RelayChainSpec): Promise<RelayChain> {
  return startRelayChain(spec, {
    program: 'haproxy',
    configure: haproxyConfig,
    args: (configFile) => ['-db', '-f', configFile],
  });
}

function haproxyConfig({ listenAddress, port, nextAddress, nextPort }: RelayHop): string {
  return `global
  nbthread 1
  maxconn 1000

defaults
  mode tcp
  option splice-auto
  option splice-request
  option splice-response
  timeout connect 30s
  timeout client 1h
  timeout server 1h

listen relay
  bind ${listenAddress}:${port}
  server next ${nextAddress}:${nextPort}
`;
}
