import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Imports and re-exports of a file that are there when it runs: those of types alone are not. */
const LOADS = /^(?:import|export)\s(?!type\s)(?:[^;']*\sfrom\s)?'([^']+)'/gm;

/** All that a file loads: files as addresses, modules of Node and packages by name. */
function loadedBy(main: URL): readonly string[] {
  const found = new Set([main.href]);
  for (const one of found) {
    if (!one.startsWith('file:')) continue;
    for (const [, specifier = ''] of readFileSync(new URL(one), 'utf8').matchAll(LOADS))
      found.add(specifier.startsWith('.') ? new URL(specifier, one).href : specifier);
  }
  return [...found];
}

test('a relay thread loads no package: every one of them would hold it in a heap of its own', () => {
  const loaded = loadedBy(new URL('./relay-worker.ts', import.meta.url));
  expect(loaded).toContain(new URL('../tls/self-test.ts', import.meta.url).href);
  expect(loaded).toContain('node:worker_threads');
  expect(loaded.filter((one) => !/^(?:file|node):/.test(one))).toEqual([]);
});
