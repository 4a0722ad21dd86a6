import type { ProxyProgram } from './proxy-relay.ts';

/** More than two for each flow of the largest run. */
const MOST_DESCRIPTORS = 8192;

/** squid as forward proxy in one process that keeps nothing. */
export function squid(program: string): ProxyProgram {
  return {
    id: 'squid',
    way: { kind: 'proxy' },
    configure: ({ listen, folder }) => `http_port ${listen}
http_access allow all
cache deny all
cache_mem 0 MB
access_log none
cache_store_log none
cache_log ${folder}/cache.log
pid_filename ${folder}/squid.pid
coredump_dir ${folder}
netdb_filename none
pinger_enable off
cache_effective_user root
max_filedescriptors ${MOST_DESCRIPTORS}
shutdown_lifetime 1 second
`,
    command: (configFile) => [program, '-N', '-f', configFile],
  };
}
