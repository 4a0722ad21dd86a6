import type { ProxyProgram } from './proxy-relay.ts';

/** More than two for each flow of the largest run. */
const MOST_DESCRIPTORS = 8192;

/**
 * squid as forward proxy in one process that keeps nothing and writes nothing: it refuses to work as root, and nobody
 * else may enter the benchmark's folder.
 */
export function squid(program: string): ProxyProgram {
  return {
    id: 'squid',
    way: { kind: 'proxy' },
    configure: ({ listen }) => `http_port ${listen}
http_access allow all
cache deny all
cache_mem 0 MB
access_log none
cache_store_log none
cache_log /dev/null
pid_filename none
coredump_dir none
netdb_filename none
pinger_enable off
cache_effective_user nobody
max_filedescriptors ${MOST_DESCRIPTORS}
shutdown_lifetime 0 seconds
`,
    // Its name is that of its shared memory, where it must not meet another squid.
    command: (configFile) => [program, '-N', '-n', `longhaul${process.pid}`, '-f', configFile],
  };
}
