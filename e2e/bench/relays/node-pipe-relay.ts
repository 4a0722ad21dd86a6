import { join } from 'node:path';
import type { ProxyProgram } from './proxy-relay.ts';

const MAIN = join(import.meta.dirname, 'node-pipe-main.ts');

/** Twenty lines of Node as relay, on the Node that runs the benchmark. */
export const NODE_PIPE: ProxyProgram = {
  id: 'node-pipe',
  way: { kind: 'get' },
  configure: () => '',
  command: (_, { listen, source }) => [process.execPath, MAIN, ...listen.split(':'), ...source.split(':')],
};
