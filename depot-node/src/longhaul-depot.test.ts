import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, 'longhaul-depot.mjs');

test('a start with other sources has them compiled again by another process, and the next one has not', () => {
  const root = mkdtempSync(join(tmpdir(), 'longhaul-depot-cache-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const start = () => {
    const env = { ...process.env, NODE_COMPILE_CACHE: root };
    const { stdout } = spawnSync(process.execPath, [PROGRAM, '--version'], { env, encoding: 'utf8' });
    expect(stdout).toMatch(/^longhaul-depot \d/);
    const [cache = ''] = readdirSync(root);
    return { cache: join(root, cache), filledMs: statSync(join(root, cache)).mtimeMs };
  };
  const { cache, filledMs } = start();
  expect(readdirSync(cache).length).toBeGreaterThan(0);
  expect(start().filledMs).toBe(filledMs);
  // As if the sources had come since.
  utimesSync(cache, 0, 0);
  expect(start().filledMs).toBeGreaterThan(filledMs);
}, 60_000);
