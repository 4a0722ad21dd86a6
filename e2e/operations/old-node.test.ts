import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../fixtures/run-program.ts';
import { root } from './started-service.ts';

/** The programs that `npm ci` links, by their names. */
const PROGRAMS = ['depot-node', 'master-service'].flatMap((name) => {
  const { bin } = JSON.parse(readFileSync(join(root, name, 'package.json'), 'utf8')) as {
    bin: Readonly<Record<string, string>>;
  };
  return Object.entries(bin).map(([program, file]) => [program, join(root, name, file)] as const);
});

/** Nodes of this machine that cannot run it: this one without TypeScript, and older ones on the path. */
const UNABLE = [
  [process.execPath, '--no-strip-types'],
  ...(process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => [join(folder, 'node')])
    .filter(([node = '']) => {
      const { status, stdout } = spawnSync(
        node,
        ['-p', '!process.features.typescript || Number.parseInt(process.versions.node, 10) < 24'],
        {
          encoding: 'utf8',
        },
      );
      return status === 0 && stdout === 'true\n';
    }),
];

test.each(PROGRAMS)(
  '%s says in one sentence how it is called when its Node cannot run it',
  async (_, file) => {
    for (const [node = '', ...options] of UNABLE) {
      const { code, output } = await runProgram(node, [...options, file, '--version'], root);
      expect(code).toBe(1);
      expect(output).toMatch(/^This Node, [\d.]+, cannot run Longhaul, which needs Node 24: .*\.\n$/);
      const advised = /`(\S+) (\S+)`/.exec(output);
      // Not every platform has a Node that comes along.
      if (advised) {
        const [, able = '', program = ''] = advised;
        expect((await runProgram(able, [program, '--version'], root)).code).toBe(0);
      }
    }
  },
);
