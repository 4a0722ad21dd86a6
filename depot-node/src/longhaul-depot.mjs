#!/usr/bin/env node
// Plain JavaScript, because it stands before what makes TypeScript run: what was compiled once is kept beside the packages, where
// only those may write who may write these sources, too. From its second start on a depot then needs no compiler, which is 10 MB
// for each of its threads. Where nobody may write, it goes without.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('../../node_modules/.cache/longhaul', import.meta.url),
);
enableCompileCache(process.env.NODE_COMPILE_CACHE);
await import('./main.ts');
