import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLineFile } from '../../lab/results/result-file.ts';
import { describeRun } from '../../lab/results/run-info.ts';
import { type SoakLine, soakLineSchema } from './soak-line.ts';
import { writeSoakReport } from './write-soak-report.ts';

const REST = { descriptors: 100, pipes: 40, sockets: 8, residentBytes: 300e6 };
const SOAK: SoakLine = {
  bench: 'soak',
  flows: 200,
  seconds: 600,
  outcomes: { whole: 70, left: 28, broke: 2, wrong: 0 },
  depots: [
    {
      id: 'd1',
      before: REST,
      busy: { ...REST, sockets: 400 },
      half: { ...REST, residentBytes: 400e6 },
      after: { ...REST, residentBytes: 410e6 },
      active: 0,
    },
  ],
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-soak-page-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function pageOf(...lines: readonly SoakLine[]): string {
  const resultFile = join(folder, 'soak.jsonl');
  const options = { repeat: 1, quick: false, cutSeconds: null, seed: 1 };
  const info = describeRun({
    experiment: 'soak',
    planFingerprint: 'p',
    command: 'npm run bench -- soak',
    options,
    programs: [],
  });
  const file = openLineFile(resultFile, info, soakLineSchema);
  for (const line of lines) file.append(line);
  file.finish();
  return readFileSync(writeSoakReport({ resultFile, outFolder: folder }).page, 'utf8');
}

test('the page of a soak is made from its line alone', () => {
  const page = pageOf(SOAK);
  expect(page).toContain('after 200 downloads at once for 10 minutes');
  expect(page).toContain(
    '100 downloads: 70 whole with the right digest, 28 left on purpose, 2 broke, 0 with wrong bytes',
  );
  expect(page).toContain('are back where they were');
});

test.each([
  ['a transfer', { active: 1 }],
  ['sockets', { after: { ...REST, sockets: 80 } }],
  ['pipes', { after: { ...REST, pipes: 80 } }],
  ['memory that grew in the second half, too', { after: { ...REST, residentBytes: 500e6 } }],
])('the page names a depot that kept %s', (_, change) => {
  const depots = SOAK.depots.map((depot) => ({ ...depot, ...change }));
  expect(pageOf({ ...SOAK, depots })).toContain('Not back where it began: d1.');
});

test('a soak without its line is refused', () => {
  expect(() => pageOf()).toThrow(/holds no soak/);
});
