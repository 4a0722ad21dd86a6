import { type RelayChain, type RelayChainSpec, type RelayHop, startRelayChain } from './relay-chain.ts';

/** nginx as a chain of reverse proxies over http, buffering in memory and never on disk; ranges are passed on. */
export function startNginxChain(spec: RelayChainSpec): Promise<RelayChain> {
  if (spec.isTls) return Promise.reject(new Error('nginx as a relay cannot stand before an origin with TLS'));
  return startRelayChain(spec, {
    program: 'nginx',
    configure: nginxConfig,
    args: (configFile, folder) => ['-p', `${folder}/`, '-e', `${folder}/error.log`, '-c', configFile],
  });
}

function nginxConfig({ listenAddress, port, nextAddress, nextPort, folder }: RelayHop): string {
  return `user root;
daemon off;
master_process off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections 1024; }
http {
  access_log off;
  tcp_nodelay on;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen ${listenAddress}:${port};
    location / {
      proxy_pass http://${nextAddress}:${nextPort};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      # A buffer is passed on when it is full: small ones, so that the first bytes do not wait, and many.
      proxy_buffer_size 8k;
      proxy_buffers 512 8k;
      proxy_busy_buffers_size 2m;
      proxy_max_temp_file_size 0;
      proxy_connect_timeout 30s;
      proxy_read_timeout 1h;
      proxy_send_timeout 1h;
    }
  }
}
`;
}
