#!/usr/bin/env node
// Plain JavaScript, because it stands before what makes TypeScript run: what was compiled once is kept beside
// the packages, where only those may write who may write these sources, too. A depot then needs no compiler,
// which is 45 MB; its first start, and the first one with other sources, lets another process fill the cache.
// Where nobody may write, it goes without.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync, utimesSync } from 'node:fs';
import nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noteHangUps } from '@longhaul/shared/early-hang-ups';
import { stopOnOldNode } from '@longhaul/shared/runs-typescript';

// Before all that takes time: a supervisor that lets a service read its certificate again would end one that
// has just begun.
noteHangUps();
stopOnOldNode();

process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('../../node_modules/.cache/longhaul', import.meta.url),
);
const { directory } = nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE);
if (directory !== undefined && isBehind(directory)) {
  const program = fileURLToPath(new URL('./compile-sources.mjs', import.meta.url));
  spawnSync(process.execPath, [...process.execArgv, program], { stdio: 'ignore' });
  noteCompiled(directory);
}
await import('./main.ts');

/** Whether a cache is empty, or older than one of the sources is in its place. */
function isBehind(cache) {
  try {
    const filledMs = statSync(cache).mtimeMs;
    return readdirSync(cache).length === 0 || changedMs().some((ms) => ms > filledMs);
  } catch {
    return false;
  }
}

/** When each source came to be what it is. Not when it was written: archives keep that. */
function changedMs() {
  return ['./main.ts', '@longhaul/shared'].flatMap((entry) => {
    const folder = dirname(fileURLToPath(import.meta.resolve(entry)));
    const sources = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.ts'));
    return sources.map((name) => statSync(join(folder, name)).ctimeMs);
  });
}

/** Also where another change than one of the code was the reason, and nothing has come into the cache. */
function noteCompiled(cache) {
  try {
    const now = new Date();
    utimesSync(cache, now, now);
  } catch {
    // The next start looks again.
  }
}
