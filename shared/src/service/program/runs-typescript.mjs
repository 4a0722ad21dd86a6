// Plain JavaScript that any Node can load, and nothing imported by a name that an older one lacks: it stands
// at the head of programs.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Older ones may run TypeScript, but lack what depots ask Node for. */
const LEAST_MAJOR = 24;

/**
 * Ends a program with one sentence where this Node cannot run its sources; `npm ci` brings one that can for
 * the common platforms.
 */
export function stopOnOldNode() {
  if (process.features.typescript && Number.parseInt(process.versions.node, 10) >= LEAST_MAJOR) return;
  const [, program] = process.argv;
  const node = fileURLToPath(new URL('../../../../node_modules/.bin/node', import.meta.url));
  const advice = existsSync(node)
    ? `call it as \`${node} ${program}\`, or put the folder of that Node first in PATH`
    : `install Node ${LEAST_MAJOR} or newer on this system`;
  console.error(
    `This Node, ${process.versions.node}, cannot run Longhaul, which needs Node ${LEAST_MAJOR}: ${advice}.`,
  );
  process.exit(1);
}
