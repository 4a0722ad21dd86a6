#!/usr/bin/env node
// Plain JavaScript, because it stands before what makes TypeScript run: what was compiled once is kept beside the packages, where
// only those may write who may write these sources, too. A depot then needs no compiler, which is 45 MB; its first start lets another
// process fill the cache. Where nobody may write, it goes without.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import { stopOnOldNode } from '@longhaul/shared/runs-typescript';

stopOnOldNode();

process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('../../node_modules/.cache/longhaul', import.meta.url),
);
const { directory } = nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE);
if (directory !== undefined && isEmpty(directory)) {
  const program = fileURLToPath(new URL('./compile-sources.mjs', import.meta.url));
  spawnSync(process.execPath, [...process.execArgv, program], { stdio: 'ignore' });
}
await import('./main.ts');

function isEmpty(folder) {
  try {
    return readdirSync(folder).length === 0;
  } catch {
    return false;
  }
}
