// Plain JavaScript that any Node can run: it stops npm scripts that found no Node 24, with one sentence.
// `npm ci` brings Node 24 as an optional package for the common platforms, and npm puts it first on the path.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(
    `Longhaul needs Node 24 and found ${process.versions.node}: run \`npm ci\` without --omit=optional, or install Node 24 or newer on this system.`,
  );
  process.exit(1);
}
