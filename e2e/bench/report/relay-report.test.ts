import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openLineFile } from '../../lab/results/result-file.ts';
import { describeRun } from '../../lab/results/run-info.ts';
import { caseLineSchema } from '../cases/case-line.ts';
import { heldLineSchema, relayLineSchema } from '../measure/relay-line.ts';
import { casesFileOf, heldFileOf } from '../run/held-file.ts';
import { caseTargets } from './case-targets.ts';
import { imaginedCase, imaginedHeld, imaginedRuns } from './imagined-runs.ts';
import { relayCells } from './relay-cells.ts';
import { relayFindings } from './relay-findings.ts';
import { relayTargets } from './relay-targets.ts';
import { writeRelayReport } from './write-relay-report.ts';

const GOOD = {
  direct: 0,
  'longhaul-splice': 0.08,
  'haproxy-splice': 0.075,
  'nginx-best': 0.25,
  'node-pipe': 0.6,
};
const folder = mkdtempSync(join(tmpdir(), 'longhaul-relay-report-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the targets of the relay', () => {
  const rows = relayTargets(relayCells(imaginedRuns(8, 250e6, GOOD)), [
    imaginedHeld('longhaul-splice', 'idle'),
    imaginedHeld('longhaul-splice', 'stalled', { cpuShare: 0.02, rssGrowthBytes: 9e6 }),
  ]);
  const met = (text: string) => rows.find((row) => row.text.includes(text))?.isMet;

  it('hold our median against a rival’s of the same flows', () => {
    expect(met('CPU at most 1.25 x `haproxy-splice`')).toBe(true);
    expect(met('CPU at most 0.45 x `nginx-best`')).toBe(true);
    expect(met('goodput at least 1.8 x `nginx-best`')).toBe(true);
    const worse = relayCells(imaginedRuns(8, 250e6, { ...GOOD, 'longhaul-splice': 0.15 }));
    expect(relayTargets(worse, []).filter(({ isMet }) => isMet === false).length).toBeGreaterThanOrEqual(3);
  });

  it('say nothing of what was not measured', () => {
    expect(met('`squid`')).toBeNull();
    expect(rows.find(({ place }) => place === '1000 flows')?.isMet).toBeNull();
    expect(
      relayTargets(relayCells(imaginedRuns(8, 1e6, GOOD)), []).some(({ place }) => place === '8 flows'),
    ).toBe(false);
  });

  it('count memory and CPU of flows that rest', () => {
    expect(met('at most 25 kB each')).toBe(true);
    expect(met('under 1 % of a core')).toBe(false);
    expect(met('less than 10 MB')).toBe(true);
  });
});

describe('the targets of cases', () => {
  const rows = caseTargets([
    imaginedCase('tls-http-1', 'longhaul', { cpuSecondsPerGB: 1.2 }),
    imaginedCase('tls-http-1', 'nginx', { cpuSecondsPerGB: 1 }),
    imaginedCase('handshakes-rsa', 'longhaul', { newPerCpuSecond: 700 }),
    imaginedCase('handshakes-rsa', 'nginx', { newPerCpuSecond: 1000 }),
    imaginedCase('lanes-150', '4 lanes', { healthWorstMs: 10 }),
    imaginedCase('lanes-150', '4 lanes', { healthWorstMs: 51 }),
    imaginedCase('at-rest', 'longhaul', { residentMB: 79 }),
  ]);
  const met = (place: string, text: string) =>
    rows.find((row) => row.place === place && row.text.includes(text))?.isMet;

  it('hold our median against a rival’s, where less is better and where more is', () => {
    expect(met('tls-http-1', 'at most 1.3 x `nginx`')).toBe(true);
    expect(met('handshakes-rsa', '`newPerCpuSecond` at least 0.8 x `nginx`')).toBe(false);
  });

  it('hold the median against a number, and where it matters the worst run', () => {
    expect(met('at-rest', '80 MB')).toBe(true);
    expect(met('lanes-150', '`healthWorstMs`')).toBe(false);
  });

  it('say nothing of what was not measured', () => {
    expect(met('lanes-150', '`firstByteWorstMs`')).toBeNull();
    expect(rows.some(({ place }) => place === 'tls-https-64')).toBe(false);
  });
});

describe('the sentences', () => {
  it('tell our cost against each rival, and who needs least', () => {
    const [sentence] = relayFindings(relayCells(imaginedRuns(8, 250e6, GOOD)), []);
    expect(sentence).toContain('`longhaul-splice` needs 0.080 CPU seconds by GB');
    expect(sentence).toMatch(/1\.07 \[[^\]]+\] x `haproxy-splice`/);
    expect(sentence).toContain('Least CPU needs `haproxy-splice`');
    expect(sentence).not.toContain('`direct`');
  });

  it('do without us', () => {
    expect(relayFindings(relayCells(imaginedRuns(1, 1e9, { 'node-pipe': 0.6 })), [])).toEqual([
      '**1 flow**: least CPU needs `node-pipe`, 0.601 CPU seconds by GB.',
    ]);
  });
});

it('a result becomes a page whose pictures are there, and no number is missing', () => {
  const file = join(folder, 'relay.jsonl');
  const info = describeRun({
    experiment: 'relay',
    planFingerprint: 'p',
    command: 'npm run bench -- relay',
    options: { repeat: 3, quick: false, cutSeconds: null, seed: 0 },
    notes: ['Left out, `squid`: squid is not installed.'],
    programs: [],
  });
  const runs = openLineFile(file, info, relayLineSchema);
  for (const line of [...imaginedRuns(1, 2e9, GOOD), ...imaginedRuns(1000, 8e6, GOOD)]) runs.append(line);
  runs.finish();
  const held = openLineFile(heldFileOf(file), info, heldLineSchema);
  held.append(imaginedHeld('longhaul-splice', 'stalled'));
  held.finish();
  const cases = openLineFile(casesFileOf(file), info, caseLineSchema);
  cases.append(imaginedCase('lanes', '4 lanes', { entryCpuSecondsPerGB: 3.9 }));
  cases.finish();
  const { page } = writeRelayReport({ resultFile: file, outFolder: folder });
  const text = readFileSync(page, 'utf8');
  expect(text).toContain('squid is not installed');
  expect(text).toContain('| 4 lanes | 1 | 3.9 [3.9–3.9] |');
  expect(text).not.toMatch(/NaN|undefined|Infinity/);
  const pictures = [...text.matchAll(/\]\(pictures\/([^)]+)\)/g)].map(([, name]) => name ?? '');
  expect(pictures).toHaveLength(2);
  expect(new Set(readdirSync(join(folder, 'pictures')))).toEqual(new Set(pictures));
});
