import { expect, test } from 'vitest';
import { describeRun } from '../results/run-info.ts';
import { type MastersLine, mastersLineSchema } from './masters-line.ts';
import { mastersPage } from './masters-page.ts';

const INFO = describeRun({
  experiment: 'masters',
  planFingerprint: 'x',
  command: 'npm run lab -- masters',
  options: { repeat: 2, quick: false, cutSeconds: null, seed: 1 },
  programs: [],
});
const NOTHING = { files: 0, whole: 0, pauseMs: 0, failures: [] };

function partition(change: object): MastersLine {
  return mastersLineSchema.parse({
    kind: 'event',
    event: 'partition',
    repeat: 1,
    rightMs: null,
    backMs: 1000,
    there: { asked: 200, failed: 0, toOrigin: 0, failures: [] },
    elsewhere: { asked: 400, failed: 1, toOrigin: 2, failures: ['no answer'] },
    running: { files: 4, whole: 4, pauseMs: 90, failures: [] },
    broken: { files: 2, whole: 2, pauseMs: 5100, failures: [] },
    begun: NOTHING,
    ...change,
  });
}

function join(joinedMs: number, knownLinks: number): MastersLine {
  return mastersLineSchema.parse({
    kind: 'join',
    repeat: 1,
    depots: 1000,
    links: 20,
    joinedMs,
    knownDepots: 1000,
    knownLinks,
    elsewhere: { asked: 60, failed: 0, toOrigin: 0, failures: [] },
    running: { files: 6, whole: 6, pauseMs: 80, failures: [] },
  });
}

const pageOf = (...lines: MastersLine[]) => mastersPage({ info: INFO, lines });

test('the page of masters has the median and the worst of each event beside what is wanted, and what was never tried is empty', () => {
  const page = pageOf(partition({}), partition({ backMs: 2000 }));
  expect(page).toContain(
    '| a site is cut off from the others | 2 |  |  | the cut heals | 1500 ms | 2000 ms | 3000 ms |',
  );
  expect(page).toContain('| a NATS server is killed | 0 |  |  | it starts again |  |  |  |');
});

test('the page of masters says how often views did not become right in time', () => {
  const page = pageOf(partition({}), partition({ backMs: null }));
  expect(page).toContain('| the cut heals | 1000 ms | 1 not in time | 3000 ms |');
});

test('the page of masters adds up what was asked and downloaded, and why something failed', () => {
  const page = pageOf(partition({}), partition({ broken: { ...NOTHING, files: 2, failures: ['it ended'] } }));
  expect(page).toContain('| a site is cut off from the others | 400 | 0 | 0 | 800 | 2 | 4 |');
  expect(page).toContain(
    '| a site is cut off from the others | 8 | 8 | 90 ms | 4 | 2 | 5100 ms | 0 | 0 |  |',
  );
  expect(page).toContain('- A site is cut off from the others: no answer; it ended');
});

test('the page of masters has how long those who join late take, and the least that one knew then', () => {
  const page = pageOf(join(90, 20_000), join(130, 19_990));
  expect(page).toContain(
    '| 1000 | 20 | 2 | 110 ms | 130 ms | 100 ms | 1000 depots, 19990 links | 0 | 12 | 12 |',
  );
});
