// Fills the cache of compiled sources and ends; for `longhaul-depot.mjs`, in a process of its own, because
// what compiles TypeScript stays in a process that has once used it: 45 MB.
import { enableCompileCache } from 'node:module';

enableCompileCache(process.env.NODE_COMPILE_CACHE);
process.argv.splice(2, Infinity, '--version');
await import('./main.ts');
// It runs in threads only, and fails here; by then it has been compiled.
await import('./relay/relay-worker.ts').catch(() => undefined);
