import type { ProxyPlace, ProxyProgram } from './proxy-relay.ts';

/** More flows than any run has; HAProxy refuses to start when its descriptors would not suffice for them. */
const MOST_FLOWS = 2500;
/** One pipe for each flow of the largest run. */
const MOST_PIPES = 1200;
/** As many as our own pipes hold: smaller ones cost HAProxy more calls. */
const PIPE_BYTES = 1024 * 1024;

/** The fastest plain relay there is: bytes move inside the kernel. */
export function haproxySplice(program: string): ProxyProgram {
  return proxy('haproxy-splice', program, {
    global: [`maxpipes ${MOST_PIPES}`, `tune.pipesize ${PIPE_BYTES}`],
    defaults: ['option splice-response'],
  });
}

export function haproxyDefault(program: string): ProxyProgram {
  return proxy('haproxy-default', program, { global: [], defaults: [] });
}

interface Tuning {
  readonly global: readonly string[];
  readonly defaults: readonly string[];
}

function proxy(id: 'haproxy-splice' | 'haproxy-default', program: string, tuning: Tuning): ProxyProgram {
  return {
    id,
    way: { kind: 'get' },
    configure: (place) => config(place, tuning),
    command: (configFile) => [program, '-db', '-f', configFile],
  };
}

function config({ listen, source }: ProxyPlace, { global, defaults }: Tuning): string {
  return `global
${['nbthread 1', `maxconn ${MOST_FLOWS}`, ...global].map((line) => `  ${line}\n`).join('')}
defaults
  mode tcp
${defaults.map((line) => `  ${line}\n`).join('')}  timeout connect 10s
  timeout client 1h
  timeout server 1h

listen relay
  bind ${listen}
  server source ${source}
`;
}
