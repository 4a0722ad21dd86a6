import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { LabRefusal } from '../refusal.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import {
  type Imagined,
  imaginedFile,
  imaginedMatrix,
  imaginedRnp,
  imaginedSignalling,
  imaginedSplit,
} from './imagined-results.ts';
import { writeReport } from './write-report.ts';

const root = mkdtempSync(join(tmpdir(), 'longhaul-report-'));
let folder = '';
let folders = 0;

beforeEach(() => {
  folders += 1;
  folder = join(root, `${folders}`);
});
afterAll(() => rmSync(root, { recursive: true }));

function report(imagined: Imagined, options = {}) {
  const resultFile = imaginedFile(folder, imagined, options);
  const paths = writeReport({ resultFile, plan: imagined.plan, outFolder: join(folder, 'out') });
  return { ...paths, markdown: readFileSync(paths.page, 'utf8') };
}

/** The line of the page that speaks of these. */
function lineWith(markdown: string, ...words: readonly string[]): string {
  return markdown.split('\n').find((line) => words.every((word) => line.includes(word))) ?? '';
}

function changed(imagined: Imagined, change: (line: TransferLine) => Partial<TransferLine>): Imagined {
  return { ...imagined, lines: imagined.lines.map((line) => ({ ...line, ...change(line) })) };
}

const isIn = (line: TransferLine, scenario: string, variant: string) =>
  line.scenario === scenario && line.variant === variant;

describe('every report', () => {
  it.each([imaginedMatrix(3), imaginedRnp(3), imaginedSplit(3), imaginedSignalling(3)])(
    'of $plan.kind has its pictures, says what is seen, and is the same the next time',
    (imagined) => {
      const { page, pictures, markdown } = report(imagined);
      expect(page).toBe(join(folder, 'out', `2026-01-02-${imagined.plan.kind}.md`));
      const shown = [...markdown.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, path]) =>
        join(dirname(page), path ?? ''),
      );
      expect(shown.toSorted()).toEqual([...pictures].toSorted());
      expect(shown.length).toBeGreaterThan(0);
      for (const path of shown) expect(existsSync(path)).toBe(true);
      expect(markdown).toContain(imagined.plan.question);
      expect(markdown).toContain(`npm run lab -- ${imagined.plan.kind}`);
      expect(markdown).toMatch(/## What is seen\n\n- \*?\*?\w/);
      expect(markdown).not.toMatch(/NaN|undefined|Infinity/);
      const again = pictures.map((path) => readFileSync(path, 'utf8'));
      rmSync(folder, { recursive: true });
      const second = report(imagined);
      // The commit and the machine's programs may change while tests run; what was computed may not.
      expect(second.markdown.split('## How it was measured')[0]).toBe(
        markdown.split('## How it was measured')[0],
      );
      expect(second.pictures.map((path) => readFileSync(path, 'utf8'))).toEqual(again);
    },
  );

  it('counts a failed transfer as nothing, lists it with its reason, and stars late cells', () => {
    const clean = changed(imaginedMatrix(3), () => ({ latenessMs: 1 }));
    const { markdown } = report(
      changed(clean, (line) => {
        if (isIn(line, 'loss0-big', 'direct') && line.repeat === 2)
          return { error: 'curl: (56) reset | by *peer*', sha256Ok: false, goodputBps: 0 };
        if (isIn(line, 'loss0-big', 'chain3') && line.repeat === 1) return { sha256Ok: false };
        if (isIn(line, 'loss1e-2-big', 'auto') && line.repeat === 1) return { latenessMs: 70 };
        return {};
      }),
    );
    expect(markdown).toContain('**2 failed**');
    expect(markdown).toContain('- `loss0-big` `direct`, repeat 2: curl: (56) reset | by \\*peer\\*');
    expect(markdown).toContain('- `loss0-big` `chain3`, repeat 1: the SHA-256 of the file is wrong');
    expect(lineWith(markdown, '| `loss0-big` |', '89 |')).toMatch(/\| \d+ \[0–\d+\] \|/);
    expect(lineWith(markdown, '| `loss1e-2-big` |', '89 |').match(/\\\*/g)).toHaveLength(1);
    expect(markdown).toContain('In 1 of 120 transfers the emulator');
    expect(markdown).toContain('at worst 70 ms');
  });

  it('never lets a cut transfer look like a failure', () => {
    const { markdown } = report(imaginedMatrix(3));
    expect(markdown).toMatch(/were cut, of which (\d+) had right bytes so far; none failed/);
  });

  it('says when the run is not finished', () => {
    expect(report(imaginedMatrix(3), { isFinished: false }).markdown).toContain(
      '**This run is not finished**',
    );
  });

  it('refuses lines that the experiment does not know, and a result without lines', () => {
    const strange = changed(imaginedMatrix(1), () => ({ variant: 'chain9' }));
    expect(() => report(strange)).toThrow(LabRefusal);
    expect(existsSync(join(folder, 'out'))).toBe(false);
    rmSync(folder, { recursive: true });
    expect(() => report({ ...imaginedMatrix(1), lines: [] })).toThrow('holds no transfer');
  });
});

describe('the matrix', () => {
  it('says how much a chain gains, where a rival wins, and where a chain does not pay', () => {
    const { markdown } = report(imaginedMatrix());
    const seen = markdown.split('## How it was measured')[0] ?? '';
    expect(lineWith(seen, '**loss 1e-2, large buffer**')).toMatch(
      /`auto` carries \d+ Mbit\/s \(median\), \d+ times `direct`/,
    );
    expect(lineWith(seen, '**no loss, limited buffer**')).toContain('The best rival wins: `aria2-16`');
    expect(lineWith(seen, 'origin on bbr**')).toContain('a chain does not pay here');
  });

  it('says so when a chain is slower, and keeps silent with two transfers', () => {
    const slow = changed(imaginedMatrix(), (line) =>
      line.scenario === 'loss0-big' && /^(?:chain|auto)/.test(line.variant) ? { goodputBps: 30e6 } : {},
    );
    expect(lineWith(report(slow).markdown, '**no loss, large buffer**')).toMatch(
      /does not pay here: .* only 0\.\d+ times/,
    );
    rmSync(folder, { recursive: true });
    const few = { ...slow, lines: slow.lines.filter(({ repeat }) => repeat <= 2) };
    expect(lineWith(report(few).markdown, '**no loss, large buffer**')).toContain(
      'too few transfers to say more',
    );
  });

  it('holds the result against targets', () => {
    const { markdown } = report(imaginedMatrix(3));
    expect(markdown).toContain('1 of 2 measured targets are met.');
    expect(lineWith(markdown, 'at least 1.05')).toContain('**no**');
    expect(lineWith(markdown, '`loss1e-3-big-tls`', 'at least 3')).toContain('not measured');
    expect(lineWith(markdown, 'Not in this result')).toContain('`loss1e-3-big-tls`');
  });
});

describe('the other kinds', () => {
  it('name the levels at which depots bring nothing', () => {
    const { markdown } = report(imaginedRnp(10));
    expect(lineWith(markdown, '**UFRJ from UFPR**')).toMatch(/`depots1` does not pay at/);
    expect(lineWith(markdown, '**UFCG from UFRJ**')).not.toContain('does not pay');
  });

  it('name the settings in which a connection must not be split', () => {
    const slow = changed(imaginedSplit(), (line) =>
      isIn(line, 'clean-20M-cubic', 'split') ? { goodputBps: 9e6 } : {},
    );
    const { markdown } = report(slow);
    expect(lineWith(markdown, 'must **not** be chosen')).toContain('clean at 20 Mbit/s, cubic');
    expect(lineWith(markdown, '| `clean-20M-cubic` | `split` |')).toContain('**no**');
  });

  it('tell the first byte in milliseconds and round trips', () => {
    const { markdown } = report(imaginedSignalling());
    expect(lineWith(markdown, '**http, everything cold**')).toMatch(
      /`cascade3` after 28\d ms, 2\.9 round trips, 8\d ms later/,
    );
  });
});
