import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { openRun, placesOf, typedCommand } from './open-run.ts';

test('a result stands where it was asked for, else in the folder that was, else in the usual one', () => {
  const places = (resultFile?: string, outFolder?: string) =>
    placesOf({ resultFile, outFolder }, 'usual', 'relay');
  expect(places()).toEqual({ resultFile: resolve('usual', 'relay.jsonl'), outFolder: resolve('usual') });
  expect(places(undefined, 'out').resultFile).toBe(resolve('out', 'relay.jsonl'));
  expect(places('mine.jsonl', 'out')).toEqual({
    resultFile: resolve('mine.jsonl'),
    outFolder: resolve('out'),
  });
});

test('a run is described by the command that was typed, neither quick nor cut where that is not said', ({
  onTestFinished,
}) => {
  const outFolder = mkdtempSync(join(tmpdir(), 'longhaul-run-'));
  onTestFinished(() => rmSync(outFolder, { recursive: true }));
  const places = placesOf({ resultFile: undefined, outFolder }, 'unused', 'some');
  const run = openRun({
    places,
    script: 'bench',
    experiment: 'some',
    planFingerprint: 'plan-a',
    options: { repeat: 3, seed: 7 },
    schema: z.object({}),
  });
  run.append({});
  run.close();
  const text = readFileSync(`${places.resultFile}.run.json`, 'utf8');
  expect(JSON.parse(text)).toMatchObject({
    command: typedCommand('bench'),
    options: { repeat: 3, quick: false, cutSeconds: null, seed: 7 },
    finishedAt: null,
  });
  expect(typedCommand('bench')).toMatch(/^npm run bench --/);
  // Descriptions are committed beside results: members keep their places.
  expect(Object.keys(JSON.parse(text)).slice(0, 4)).toEqual([
    'experiment',
    'planFingerprint',
    'command',
    'options',
  ]);
});
