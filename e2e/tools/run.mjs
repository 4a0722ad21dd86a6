// `node e2e/tools/run.mjs <file> [arguments]` runs a program of this repository in its own process, for npm's scripts.
// Plain JavaScript that any Node can run: it stops what would fail in stranger ways, with one sentence. `npm ci` brings
// Node 24 as an optional package for the common platforms, and npm puts it first on the path.
import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = new URL('../../node_modules/@rolldown/', import.meta.url);
const hasBinaries = existsSync(folder) && readdirSync(folder).some((name) => name.startsWith('binding-'));
const major = Number(process.versions.node.split('.')[0]);

if (!hasBinaries) stop('Packages are missing: run `npm ci`, without --omit=optional.');
if (major < 24)
  stop(`Longhaul needs Node 24 and found ${process.versions.node}: install Node 24 or newer on this system.`);

// What it runs finds its own name and arguments where it would without this.
const [file] = process.argv.splice(2, 1);
process.argv[1] = resolve(file);
const { endWithStarter } = await import('./end-with-starter.ts');
endWithStarter();
await import(pathToFileURL(process.argv[1]).href);

function stop(sentence) {
  console.error(sentence);
  process.exit(1);
}
