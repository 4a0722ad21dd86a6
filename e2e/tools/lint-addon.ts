/**
 * Has the add-on's package for Firefox looked at as its store does; ends with 1 where the store would refuse
 * it or warn of it.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildExtension } from '@longhaul/extension/build';

const folder = await mkdtemp(join(tmpdir(), 'longhaul-lint-'));
try {
  const outDir = join(folder, 'firefox');
  await buildExtension({ outDir, target: 'firefox' });
  const { status, error, stdout } = spawnSync('addons-linter', ['--warnings-as-errors', '--boring', outDir], {
    encoding: 'utf8',
  });
  if (error) throw error;
  // What it says of a package without a fault is a table of noughts.
  if (status !== 0) process.stdout.write(stdout);
  process.exitCode = status ?? 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
