import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { LabRefusal } from '../refusal.ts';
import type { RunInfo } from '../results/run-info.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import {
  type Imagined,
  imaginedFailover,
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
  const paths = writeReport({
    resultFiles: [resultFile],
    plan: imagined.plan,
    outFolder: join(folder, 'out'),
  });
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
  it.each([imaginedMatrix(3), imaginedRnp(3), imaginedSplit(3), imaginedSignalling(3), imaginedFailover(3)])(
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
    expect(markdown).toContain('In 1 of 123 transfers packets left the emulator');
    expect(markdown).toContain('at worst 70 ms');
  });

  it('never lets a cut transfer look like a failure', () => {
    const { markdown } = report(imaginedMatrix(3));
    expect(markdown).toMatch(/were cut, of which (\d+) had right bytes so far; none failed/);
  });

  it('says after which time transfers are cut, also where none should have been', () => {
    const info = { options: { repeat: 5, quick: false, cutSeconds: null, seed: 1 } };
    const uncut = changed(imaginedSplit(3), () => ({ cut: undefined }));
    expect(report(uncut, { info }).markdown).toContain('; no transfer is cut');
    const [slow, ...others] = uncut.lines;
    if (!slow) throw new Error('nothing was imagined');
    const cut = { ...slow, sha256Ok: null, cut: true, prefixOk: true, receivedBytes: 1e6 } as const;
    rmSync(folder, { recursive: true });
    const { markdown } = report({ ...uncut, lines: [cut, ...others] }, { info });
    expect(markdown).toContain('; a transfer is cut after 1800 s');
  });

  it('says how many transfers left the way that was planned, and where', () => {
    const ours = (line: TransferLine) => ['chain3', 'auto'].includes(line.variant);
    const kept = changed(imaginedMatrix(3), (line) => (ours(line) ? { wayChanges: 0 } : {}));
    const all = kept.lines.filter(ours).length;
    expect(report(kept).markdown).toContain(
      `${all} transfers through depots came by the way that was planned`,
    );
    const { markdown } = report(
      changed(kept, (line) => (isIn(line, 'loss0-limited', 'auto') ? { wayChanges: 2 } : {})),
    );
    expect(markdown).toContain(
      `**3 of ${all} transfers through depots left the planned way** (\`auto\` in \`loss0-limited\`)`,
    );
  });

  it('says when the run is not finished', () => {
    expect(report(imaginedMatrix(3), { isFinished: false }).markdown).toContain(
      '**This run is not finished**',
    );
  });

  it('says how late packets left, and does not claim to know more', () => {
    const punctual = changed(imaginedMatrix(3), () => ({ latenessMs: 2.5 }));
    const { markdown } = report(punctual);
    expect(lineWith(markdown, 'Packets left the emulator at most 2.5 ms late')).toContain('is not counted');
    expect(markdown).not.toMatch(/other labs?|overlapped/);
  });

  it('says when the machine was shared, and with which commit an interrupted run went on', () => {
    const info: Partial<RunInfo> = {
      commit: 'aaaa',
      resumedAt: [{ at: '2026-01-02T03:30:00Z' }, { at: '2026-01-02T03:40:00Z', commit: 'bbbb+' }],
      otherLabs: { atStart: 99 },
    };
    const { markdown } = report(imaginedMatrix(3), { info });
    expect(markdown).toContain('Up to 99 other labs');
    expect(lineWith(markdown, 'at commit `aaaa`')).toContain(
      'interrupted and resumed 2026-01-02 03:30 and 2026-01-02 03:40 at commit `bbbb+` (`+`: files of the tree had changed since), finished 2026-01-02',
    );
  });

  it('says what was measured anew beside older lines, and on which kernel', () => {
    const resumedAt = [{ at: '2026-01-02T03:30:00Z', commit: 'bbbb', kernel: '6.9', isAnew: true as const }];
    const { markdown } = report(imaginedMatrix(3), { info: { commit: 'aaaa', resumedAt } });
    expect(lineWith(markdown, 'at commit `aaaa`')).toContain(
      'all but what was measured by hand anew 2026-01-02 03:30 at commit `bbbb` on Linux 6.9 (only the last is shown), finished',
    );
    expect(markdown).not.toContain('interrupted');
  });

  it('refuses lines that the experiment does not know, and a result without lines', () => {
    const strange = changed(imaginedMatrix(1), () => ({ variant: 'chain9' }));
    expect(() => report(strange)).toThrow(LabRefusal);
    expect(existsSync(join(folder, 'out'))).toBe(false);
    rmSync(folder, { recursive: true });
    expect(() => report({ ...imaginedMatrix(1), lines: [] })).toThrow('holds no transfer');
  });
});

describe('a report of several results', () => {
  const part = (imagined: Imagined, name: string, startedAt: string, keep: (line: TransferLine) => boolean) =>
    imaginedFile(
      folder,
      { ...imagined, lines: imagined.lines.filter(keep) },
      { name, info: { startedAt, commit: name } },
    );
  const reportOf = (imagined: Imagined, resultFiles: readonly string[]) => {
    const { page } = writeReport({ resultFiles, plan: imagined.plan, outFolder: join(folder, 'out') });
    return { page, markdown: readFileSync(page, 'utf8') };
  };

  it('shows all their lines, and names every command with its start and its end', () => {
    const imagined = imaginedMatrix(3);
    const isLossless = ({ scenario }: TransferLine) => scenario.startsWith('loss0');
    const late = part(imagined, 'late', '2026-01-03T05:00:00Z', isLossless);
    const early = part(imagined, 'early', '2026-01-02T03:04:05Z', (line) => !isLossless(line));
    const { page, markdown } = reportOf(imagined, [late, early]);
    expect(page).toContain('2026-01-02-matrix.md');
    const [seen, of] = markdown.split('## How it was measured');
    expect(seen).toContain('**loss 1e-2, large buffer**');
    expect(seen).toContain('**no loss, large buffer**');
    expect(lineWith(of ?? '', 'Run 1 of 2', '--json early.jsonl', 'commit `early`')).toContain(
      'started 2026-01-02 03:04, finished 2026-01-02 04:05 (UTC)',
    );
    expect(lineWith(of ?? '', 'Run 2 of 2', '--json late.jsonl', 'commit `late`')).toContain(
      'started 2026-01-03 05:00',
    );
    expect(of).not.toContain('Measured in several runs');
  });

  it('says which scenarios were not measured side by side, and that runs overlapped', () => {
    const imagined = imaginedMatrix(3);
    const isFirst = ({ repeat }: TransferLine) => repeat === 1;
    const first = part(imagined, 'first', '2026-01-02T03:04:05Z', isFirst);
    const rest = part(imagined, 'rest', '2026-01-02T03:30:00Z', (line) => !isFirst(line));
    const { markdown } = reportOf(imagined, [first, rest]);
    expect(lineWith(markdown, 'Measured in several runs')).toContain('`loss0-big`');
    expect(markdown).toContain('Runs of this page overlapped in time');
  });

  it('refuses a transfer that is in two of them, and results of several experiments', () => {
    const imagined = imaginedMatrix(2);
    const one = part(imagined, 'one', '2026-01-02T03:04:05Z', () => true);
    const two = part(imagined, 'two', '2026-01-03T03:04:05Z', ({ repeat }) => repeat === 2);
    expect(() => reportOf(imagined, [one, two])).toThrow(
      /Repeat 2 of direct in loss0-big is in both .*one.jsonl and .*two.jsonl/,
    );
    expect(() => reportOf(imagined, [one, one])).toThrow('leave one of them out');
    const split = part(imaginedSplit(1), 'split', '2026-01-03T03:04:05Z', () => true);
    expect(() => reportOf(imagined, [one, split])).toThrow('make a report of each');
    expect(existsSync(join(folder, 'out'))).toBe(false);
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

  it('never calls it a chain when the planner went direct', () => {
    const direct = changed(imaginedMatrix(), (line) =>
      isIn(line, 'loss0-big', 'auto') ? { chain: [], goodputBps: 95e6 } : {},
    );
    const said = lineWith(report(direct).markdown, '**no loss, large buffer**');
    expect(said).toMatch(/the best, `chain[\w-]+`|`chain[\w-]+` carries/);
    expect(said).toContain('`auto` went direct');
    rmSync(folder, { recursive: true });
    const alone = {
      ...direct,
      lines: direct.lines.filter(({ variant }) => ['direct', 'auto'].includes(variant)),
    };
    expect(lineWith(report(alone).markdown, '**no loss, large buffer**')).not.toContain('a chain');
  });

  it('says what lanes make of the same chain', () => {
    const said = lineWith(report(imaginedMatrix()).markdown, '**loss 1e-2, large buffer**');
    expect(said).toMatch(/`chain3-lanes8` is 4\.\d times as fast as `chain3` \[/);
  });

  it('holds the result against targets', () => {
    const { markdown } = report(imaginedMatrix(3));
    expect(markdown).toContain('1 of 2 measured targets are met.');
    expect(lineWith(markdown, 'at least 1.05')).toContain('**no**');
    expect(markdown).toContain('1 target more is about scenarios that are not in this result.');
    expect(lineWith(markdown, 'Not in this result')).toContain('`loss1e-3-big-tls`');
  });
});

describe('failover', () => {
  it('says how many files came whole, how many in one go, and how long the client paused', () => {
    const { markdown } = report(imaginedFailover(3));
    expect(lineWith(markdown, '- **the middle depot breaks**')).toMatch(
      /of 9 transfers 9 brought the file byte-identical, 9 in one uninterrupted download; .* ms after FIN .* ms after RST .* ms after silence/,
    );
    expect(lineWith(markdown, '- **the first depot breaks**')).toContain('0 in one uninterrupted download');
  });

  it('tells no pause of a transfer that broke off, and does not count it as whole', () => {
    const { markdown } = report(
      changed(imaginedFailover(3), ({ fault, scenario }) =>
        fault && scenario === 'last'
          ? { sha256Ok: false, error: 'curl: (18) cut off', goodputBps: 0, pauseMs: undefined }
          : {},
      ),
    );
    const said = lineWith(markdown, '- **the last depot breaks**');
    expect(said).toContain('of 9 transfers 0 brought the file');
    expect(said).not.toContain('paused');
    expect(markdown).toContain('- `last` `fin-50`, repeat 1: curl: (18) cut off');
  });

  it('has a page even when no file came whole', () => {
    const { markdown, pictures } = report(
      changed(imaginedFailover(1), () => ({ sha256Ok: false, error: 'reset', goodputBps: 0 })),
    );
    expect(markdown).toContain('No transfer brought the whole file.');
    expect(pictures).toEqual([]);
  });
});

describe('the other kinds', () => {
  it('name the levels at which depots bring nothing', () => {
    const { markdown } = report(imaginedRnp(10));
    expect(lineWith(markdown, '**UFRJ from UFPR**')).toMatch(/`depots1` does not pay at/);
    expect(lineWith(markdown, '**UFCG from UFRJ**')).not.toContain('does not pay');
  });

  it('say what the planner chose at each level, and blame no chain for going direct', () => {
    const { markdown } = report(
      changed(imaginedRnp(10), ({ variant, scenario }) =>
        variant === 'auto' ? { chain: /-[01]$/.test(scenario) ? [] : ['pe', 'rj'] } : {},
      ),
    );
    const said = lineWith(markdown, '**UFRJ from UFPR**');
    expect(said).toContain(
      '`auto` went direct at 0 and 1; it went through `pe`, `rj` at 2, 4, 8 and 16 flows of cross traffic',
    );
    expect(said).toMatch(/`depots1` does not pay at/);
    expect(said).not.toMatch(/`auto` does not pay at (?:any|[^.]*\b[01] \()/);
  });

  it('call the planner at one with itself when it chose the same everywhere', () => {
    const { markdown } = report(
      changed(imaginedRnp(3), ({ variant }) => (variant === 'auto' ? { chain: [] } : {})),
    );
    expect(lineWith(markdown, '**UFCG from UFRJ**')).toContain('`auto` went direct at every level.');
    expect(markdown).not.toContain('`auto` does not pay');
  });

  it('count only the cases of which enough is known', () => {
    const few = imaginedSplit(2);
    const { markdown } = report(few);
    expect(markdown).not.toContain('In none of');
    expect(markdown).toContain('In 8 cases there are too few transfers');
    rmSync(folder, { recursive: true });
    const lines = imaginedSplit(6).lines.filter(
      ({ scenario, repeat }) => repeat <= 2 || scenario === 'clean-far-20M-cubic',
    );
    const partly = report({ ...few, lines }).markdown;
    expect(partly).toContain('In none of 1 case is a chain measurably slower');
    expect(partly).toContain('In 7 cases there are too few transfers');
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
