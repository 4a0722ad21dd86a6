import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { LabRefusal } from '../refusal.ts';
import { transferLineSchema } from './read-lines.ts';
import { openLineFile, openResultFile, readResults } from './result-file.ts';
import { describeRun, fingerprintOf, type RunInfo } from './run-info.ts';
import type { TransferLine } from './transfer-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhaul-results-'));
let file = '';
let files = 0;

beforeEach(() => {
  files += 1;
  file = join(folder, `${files}`, 'matrix.jsonl');
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (planFingerprint = 'plan-a'): RunInfo =>
  describeRun({
    experiment: 'matrix',
    planFingerprint,
    command: `npm run lab -- matrix # ${planFingerprint}`,
    options: { repeat: 3, quick: true, cutSeconds: 12, seed: 1 },
    programs: [],
  });

const line = (repeat: number, rest: Partial<TransferLine> = {}): TransferLine => ({
  experiment: 'matrix',
  scenario: 'loss0-big',
  variant: 'direct',
  repeat,
  seed: 7,
  sizeBytes: 31_457_280,
  seconds: 3.4,
  goodputBps: 74e6,
  ttfbMs: 203,
  sha256Ok: true,
  latenessMs: 0.4,
  load: 1.2,
  ...rest,
});

function refusal(action: () => unknown): LabRefusal {
  try {
    action();
  } catch (failure) {
    if (failure instanceof LabRefusal) return failure;
    throw failure;
  }
  throw new Error('it was not refused');
}

function measure(lines: readonly TransferLine[], { isFinished = false, info = run() } = {}): void {
  const result = openResultFile(file, info);
  for (const one of lines) result.append(one);
  if (isFinished) result.finish();
  else result.close();
}

describe('a result file', () => {
  it('begins anew where there is none, and where there is an empty one', () => {
    expect(openResultFile(file, run()).lines).toEqual([]);
    expect(openResultFile(file, run('plan-b')).lines).toEqual([]);
    expect(readResults(file).info.planFingerprint).toBe('plan-b');
  });

  it('gives back exactly what was put in, with the description of the run', () => {
    const cut = line(2, {
      cut: true,
      prefixOk: true,
      receivedBytes: 1e6,
      sha256Ok: null,
      chain: ['near', 'far'],
    });
    measure([line(1), cut], { isFinished: true });
    const { info, lines } = readResults(file);
    expect(lines).toEqual([line(1), cut]);
    expect(info).toMatchObject({ experiment: 'matrix', options: { repeat: 3 }, resumedAt: [] });
    expect(info.finishedAt).not.toBeNull();
    expect(info.versions['node']).toBe(process.versions.node);
  });

  it('has every line on the disk before the next transfer begins', () => {
    const result = openResultFile(file, run());
    result.append(line(1));
    expect(readResults(file).lines).toEqual([line(1)]);
    result.close();
  });

  it('goes on where an unfinished run of the same plan stopped, and says so', () => {
    measure([line(1)]);
    const result = openResultFile(file, run());
    expect(result.lines).toEqual([line(1)]);
    result.append(line(2));
    result.finish();
    expect(readResults(file).lines).toEqual([line(1), line(2)]);
    expect(readResults(file).info.resumedAt).toHaveLength(1);
  });

  it('keeps the commit of a sitting that went on with another version', () => {
    measure([line(1)], { info: { ...run(), commit: 'aaaa' } });
    for (const commit of ['aaaa', 'bbbb', 'bbbb', 'aaaa']) openResultFile(file, { ...run(), commit }).close();
    const { commit, resumedAt } = readResults(file).info;
    expect([commit, ...resumedAt.map((sitting) => sitting.commit)]).toEqual([
      'aaaa',
      undefined,
      'bbbb',
      undefined,
      'aaaa',
    ]);
  });

  it('reads what older versions wrote', () => {
    measure([line(1)], { isFinished: true });
    const sidecar = `${file}.run.json`;
    const { otherLabs: _, ...old } = JSON.parse(readFileSync(sidecar, 'utf8')) as RunInfo;
    writeFileSync(sidecar, JSON.stringify({ ...old, resumedAt: ['2026-01-02T03:04:05Z'] }));
    expect(readResults(file).info.resumedAt).toEqual([{ at: '2026-01-02T03:04:05Z' }]);
  });

  it.each([true, false])(
    'keeps what is not to be measured anew, and says so, of one that is finished: %s',
    (isFinished) => {
      const measured = [line(1), line(2, { variant: 'auto' }), line(3)];
      measure(measured, { isFinished, info: { ...run(), commit: 'aaaa', kernel: '6.1' } });
      const info = { ...run(), commit: 'bbbb', kernel: '6.2' };
      const anew = openLineFile(file, info, transferLineSchema, ({ variant }) => variant !== 'auto');
      expect(anew.lines).toEqual([line(1), line(3)]);
      anew.append(line(2, { variant: 'auto', seconds: 9 }));
      expect(readResults(file).info).toMatchObject({
        commit: 'aaaa',
        finishedAt: null,
        resumedAt: [{ commit: 'bbbb', kernel: '6.2', isAnew: true }],
      });
      anew.finish();
      expect(readResults(file).lines.map(({ seconds }) => seconds)).toEqual([3.4, 3.4, 9]);
      expect(readResults(`${file}.previous`).lines).toEqual(measured);
    },
  );

  it('keeps nothing of another plan', () => {
    measure([line(1)], { isFinished: true });
    const open = () => openLineFile(file, run('plan-b'), transferLineSchema, () => true);
    expect(refusal(open).code).toBe('lab-result-file');
    expect(readResults(file).lines).toEqual([line(1)]);
  });

  it('keeps a finished result as the previous one', () => {
    measure([line(1)], { isFinished: true });
    measure([line(2)], { isFinished: true });
    measure([line(3)]);
    expect(readResults(`${file}.previous`).lines).toEqual([line(2)]);
    expect(readResults(file).lines).toEqual([line(3)]);
    expect(readdirSync(join(file, '..'))).toHaveLength(4);
  });

  it('takes no line after the end', () => {
    const result = openResultFile(file, run());
    result.finish();
    result.close();
    expect(() => result.append(line(1))).toThrow('closed');
  });

  it('loses at most the line that a crash tore, wherever it tore it', () => {
    const lines = [line(1), line(2, { error: 'curl: (18) Ende der Übertragung' }), line(3)];
    measure(lines);
    const whole = readFileSync(file);
    fc.assert(
      fc.property(fc.nat(whole.length), (bytes) => {
        writeFileSync(file, whole);
        truncateSync(file, bytes);
        const written = whole.subarray(0, bytes).filter((byte) => byte === 0x0a).length;
        if (bytes > 0) expect(readResults(file).lines).toEqual(lines.slice(0, written));
        const result = openResultFile(file, run());
        expect(result.lines).toEqual(lines.slice(0, written));
        for (const missing of lines.slice(written)) result.append(missing);
        result.close();
        expect(readFileSync(file)).toEqual(whole);
      }),
    );
  });
});

describe('a file that is not ours', () => {
  const untouched = (action: () => unknown): LabRefusal => {
    const before = readdirSync(join(file, '..')).map((name) => readFileSync(join(file, '..', name), 'utf8'));
    const failure = refusal(action);
    const after = readdirSync(join(file, '..')).map((name) => readFileSync(join(file, '..', name), 'utf8'));
    expect(after).toEqual(before);
    expect(failure.code).toBe('lab-result-file');
    return failure;
  };

  it('is left alone when it has no description', () => {
    measure([line(1)]);
    rmSync(`${file}.run.json`);
    expect(untouched(() => openResultFile(file, run())).message).toContain('name another file');
  });

  it('is left alone when its description is damaged', () => {
    measure([line(1)]);
    writeFileSync(`${file}.run.json`, '{"experiment":');
    expect(untouched(() => openResultFile(file, run())).message).toContain('no valid');
    writeFileSync(`${file}.run.json`, '{"experiment":"matrix"}');
    expect(untouched(() => openResultFile(file, run())).message).toContain('no valid');
  });

  it('is left alone when another plan is not finished, with the command that finishes it', () => {
    measure([line(1)]);
    expect(untouched(() => openResultFile(file, run('plan-b'))).message).toContain(run().command);
  });

  it('is refused with the number of the line that is wrong', () => {
    measure([line(1), line(2)]);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"repeat":2', '"repeat":"two"'));
    expect(untouched(() => openResultFile(file, run())).message).toMatch(/line 2 .*repeat/);
    expect(refusal(() => readResults(file)).message).toMatch(/line 2 .*repeat/);
  });

  it('cannot be read as a result', () => {
    expect(refusal(() => readResults(file)).message).toContain('does not exist');
    measure([line(1)]);
    rmSync(`${file}.run.json`);
    expect(refusal(() => readResults(file)).message).toContain('run the experiment again');
    expect(existsSync(file)).toBe(true);
  });
});

describe('the fingerprint of a plan', () => {
  it('tells plans apart by what they say, not by the order in which they say it', () => {
    expect(fingerprintOf({ a: 1, b: { c: [1, 2], d: 3 } })).toBe(
      fingerprintOf({ b: { d: 3, c: [1, 2] }, a: 1 }),
    );
    expect(fingerprintOf({ a: [1, 2] })).not.toBe(fingerprintOf({ a: [2, 1] }));
  });
});
