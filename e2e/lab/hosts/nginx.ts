import { type RelayChain, type RelayChainSpec, type RelayHop, startRelayChain } from './relay-chain.ts';

/**
 * nginx as a chain of reverse proxies, as fast as it can be: buffering in memory and never on disk, ranges
 * passed on, and connections to the next relay kept for later requests. Over TLS it ends the client's at the
 * first relay.
 */
export function startNginxChain(spec: RelayChainSpec): Promise<RelayChain> {
  return startRelayChain(spec, {
    program: 'nginx',
    endsTls: true,
    configure: nginxConfig,
    args: (configFile, folder) => ['-p', `${folder}/`, '-e', `${folder}/error.log`, '-c', configFile],
  });
}

function nginxConfig({
  listenAddress,
  port,
  nextAddress,
  nextPort,
  folder,
  listenTls,
  nextTls,
}: RelayHop): string {
  const certificate = listenTls
    ? `ssl_certificate ${listenTls.certFile};
    ssl_certificate_key ${listenTls.keyFile};
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_buffer_size 16k;`
    : '';
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
  upstream next {
    server ${nextAddress}:${nextPort};
    keepalive 64;
    keepalive_requests 1000000;
    keepalive_timeout 1h;
  }
  server {
    listen ${listenAddress}:${port}${listenTls ? ' ssl' : ''};
    ${certificate}
    keepalive_timeout 1h;
    keepalive_requests 1000000;
    location / {
      proxy_pass ${nextTls ? 'https' : 'http'}://next;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host ${nextAddress}:${nextPort};
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
