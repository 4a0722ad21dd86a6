// Plain JavaScript that any Node can run: it stops npm scripts that would fail in stranger ways, with one sentence.
// `npm ci` brings Node 24 as an optional package for the common platforms, and npm puts it first on the path.
import { existsSync, readdirSync } from 'node:fs';

const folder = new URL('../../node_modules/@rolldown/', import.meta.url);
const hasBinaries = existsSync(folder) && readdirSync(folder).some((name) => name.startsWith('binding-'));
const major = Number(process.versions.node.split('.')[0]);

if (!hasBinaries) stop('Packages are missing: run `npm ci`, without --omit=optional.');
if (major < 24)
  stop(`Longhaul needs Node 24 and found ${process.versions.node}: install Node 24 or newer on this system.`);

function stop(sentence) {
  console.error(sentence);
  process.exit(1);
}
