import type { ProxyPlace, ProxyProgram } from './proxy-relay.ts';

/** With buffering on, nginx sends whole buffers only; a little more than one of 256 KiB. */
const MORE_THAN_A_BUFFER_BYTES = 300_000;

/** nginx with the settings that cost it least: whole quarters of a megabyte at a time, never on disk. */
export function nginxBest(program: string): ProxyProgram {
  const tuning = [
    'proxy_buffering on',
    'proxy_buffer_size 256k',
    'proxy_buffers 4 256k',
    'proxy_busy_buffers_size 512k',
    'proxy_max_temp_file_size 0',
  ];
  return { ...proxy('nginx-best', program, tuning), leastBytes: MORE_THAN_A_BUFFER_BYTES };
}

/** nginx that passes on at once what it reads, as sites with large downloads are often set. */
export function nginxUnbuffered(program: string): ProxyProgram {
  return proxy('nginx-unbuffered', program, ['proxy_buffering off']);
}

function proxy(
  id: 'nginx-best' | 'nginx-unbuffered',
  program: string,
  tuning: readonly string[],
): ProxyProgram {
  return {
    id,
    way: { kind: 'get' },
    configure: (place) => config(place, tuning),
    command: (configFile, { folder }) => [
      program,
      '-p',
      `${folder}/`,
      '-e',
      `${folder}/error.log`,
      '-c',
      configFile,
    ],
  };
}

/** Of the connections: two for each flow. */
const MOST_CONNECTIONS = 8192;

function config({ listen, source, folder }: ProxyPlace, tuning: readonly string[]): string {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `user root;
daemon off;
master_process off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections ${MOST_CONNECTIONS}; }
http {
  access_log off;
${folders.map((name) => `  ${name}_temp_path ${folder}/${name};\n`).join('')}
  server {
    listen ${listen} backlog=4096;
    location / {
      proxy_pass http://${source};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_read_timeout 1h;
      proxy_send_timeout 1h;
${tuning.map((line) => `      ${line};\n`).join('')}    }
    send_timeout 1h;
  }
}
`;
}
