/** Everything that can be measured, in the order of the report; ids stand in result lines and never change. */
export const RELAY_IDS = [
  'direct',
  'longhaul-splice',
  'longhaul-streams',
  'haproxy-splice',
  'haproxy-default',
  'nginx-best',
  'nginx-unbuffered',
  'squid',
  'node-pipe',
] as const;

export type RelayId = (typeof RELAY_IDS)[number];

/** For people, short enough to stand beside charts. */
export const RELAY_LABELS: Readonly<Record<RelayId, string>> = {
  direct: 'no relay',
  'longhaul-splice': 'Longhaul, spliced',
  'longhaul-streams': 'Longhaul, streams',
  'haproxy-splice': 'HAProxy, spliced',
  'haproxy-default': 'HAProxy, default',
  'nginx-best': 'nginx, best',
  'nginx-unbuffered': 'nginx, unbuffered',
  squid: 'squid',
  'node-pipe': 'Node pipe',
};

/** What each is, for the report's account of the method; Markdown. */
export const RELAY_ACCOUNTS: Readonly<Record<RelayId, string>> = {
  direct: 'the sink asks the source itself: what no relay can exceed',
  'longhaul-splice':
    "a depot as it comes, but for its limits and the congestion control that is everybody's here; one CONNECT tunnel with a ticket for each flow",
  'longhaul-streams': 'the same depot with `LONGHAUL_RELAY=streams`',
  'haproxy-splice':
    'TCP mode, `option splice-response`, `nbthread 1`, `tune.pipesize 1048576`: nothing is parsed, the kernel moves the bytes',
  'haproxy-default': 'TCP mode, `nbthread 1`, nothing tuned',
  'nginx-best': 'one process, `proxy_pass` with buffering on and `proxy_buffers 4 256k`, never on disk',
  'nginx-unbuffered': 'one process, `proxy_pass` with `proxy_buffering off`, buffers of stock size',
  squid: 'one process as forward proxy, caching nothing',
  'node-pipe': "`net.Socket` piped into `net.Socket`, Node's usual buffers",
};
