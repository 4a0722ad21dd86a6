import { expect, test } from 'vitest';
import { describeRun } from '../results/run-info.ts';
import type { AnycastLine } from './anycast-line.ts';
import { anycastPage } from './anycast-page.ts';

const INFO = describeRun({
  experiment: 'anycast',
  planFingerprint: 'x',
  command: 'npm run lab -- anycast',
  options: { repeat: 3, quick: false, cutSeconds: null, seed: 1 },
  programs: [],
});
const silence = (switchMs: number, failedBefore: number): AnycastLine => ({
  kind: 'event',
  event: 'silence',
  repeat: 1,
  switchMs,
  failedAfter: 1,
  failedBefore,
  backMs: 1000,
});
const load: AnycastLine = {
  kind: 'load',
  seconds: 600,
  redirects: 600_000,
  withdrawals: [],
  answeredElsewhere: 0,
  failed: 0,
};

test('the page of sites behind one address has the median and the worst of each event, and what was never tried is empty', () => {
  const page = anycastPage({ info: INFO, lines: [silence(150, 0), silence(250, 4), silence(170, 1)] });
  expect(page).toContain(
    '| the site falls silent | 3 | 170 ms | 250 ms | 300 ms | 2 | 5 | 1000 ms | 1000 ms |',
  );
  expect(page).toContain('| its master is killed | 0 |  |  | 1000 ms |  |  |  |  |');
});

test('the page says what a master had answered when its address was withdrawn under load', () => {
  const pageOf = (withdrawals: string[]) => anycastPage({ info: INFO, lines: [{ ...load, withdrawals }] });
  expect(pageOf([])).toContain('| 10 min | 1000 | 0 | 0 | 0 |');
  expect(pageOf(['silent', 'unwell'])).toContain('| 10 min | 1000 | 2 (silent, unwell) | 0 | 0 |');
});
