/**
 * Fails when folders, or files, of a package import each other around. Directions between packages stand in
 * .oxlintrc.json. Circles that somebody is about to open stand in known-circles.json.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeCircle, findCircles, judgeCircles, type KnownCircle } from './import-circles.ts';
import { root } from './run-steps.ts';

const SOURCES = ['{shared,depot-node,master-service,master-service/web,extension}/src', 'e2e'].map(
  (folder) => `${folder}/**/*.{ts,tsx}`,
);
/** What only runs tests is imported by nobody. */
const TESTS = /\.(?:test|spec|lab)\.tsx?$/;

const files = globSync(SOURCES, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !TESTS.test(file));
const circles = findCircles(new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')])));
const known = JSON.parse(
  readFileSync(join(import.meta.dirname, 'known-circles.json'), 'utf8'),
) as KnownCircle[];
const { unknown, opened } = judgeCircles(circles, known);

for (const circle of unknown) {
  process.stderr.write(`${describeCircle(circle)}\n`);
}
for (const { folder, members } of opened) {
  process.stderr.write(
    `In ${folder} there is no circle of ${members.join(', ')} any more: take it out of known-circles.json\n`,
  );
}
if (unknown.length + opened.length > 0) process.exitCode = 1;
