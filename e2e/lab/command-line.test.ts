import { describe, expect, test } from 'vitest';
import { readCommandLine } from './command-line.ts';

describe('the command line of the lab', () => {
  test('runs an experiment with the options that were given', () => {
    const command = readCommandLine(
      'matrix --quick --repeat 3 --json a.jsonl --out b --cut 5 --seed 9 --variants direct,auto'.split(' '),
    );
    expect(command).toMatchObject({
      kind: 'run',
      experiment: { name: 'matrix' },
      options: { quick: true, repeats: 3, cutSeconds: 5, seed: 9, variants: ['direct', 'auto'] },
      resultFile: 'a.jsonl',
      outFolder: 'b',
    });
  });

  test('makes a report of one result file, or of several together', () => {
    expect(readCommandLine(['report', 'a.jsonl', '--out', 'docs'])).toEqual({
      kind: 'report',
      resultFiles: ['a.jsonl'],
      outFolder: 'docs',
    });
    expect(readCommandLine(['report', 'a.jsonl', 'b.jsonl'])).toEqual({
      kind: 'report',
      resultFiles: ['a.jsonl', 'b.jsonl'],
      outFolder: undefined,
    });
  });

  test('measures the emulator itself', () => {
    expect(readCommandLine(['self-test', '--json', 'a.jsonl'])).toEqual({
      kind: 'self-test',
      resultFile: 'a.jsonl',
      outFolder: undefined,
    });
  });

  test('has sites behind one address fail, and loads them', () => {
    expect(readCommandLine(['anycast', '--repeat', '3', '--load', '0'])).toMatchObject({
      kind: 'anycast',
      plan: { repeats: 3, loadMinutes: 0 },
    });
    expect(() => readCommandLine(['anycast', 'rj', '--load', 'x'])).toThrow(
      /'rj' means nothing here; --load x must be a whole number/,
    );
  });

  test.each([[[]], [['--help']], [['matrix', '-h']], [['self-test', '--help']]])(
    'helps when asked %j',
    (args) => {
      expect(readCommandLine(args)).toEqual({ kind: 'help' });
    },
  );

  test.each([
    ['matrx', /There is no experiment 'matrx'; choose one of matrix, rnp, split, signalling/],
    ['matrix --repeat 0', /--repeat 0 must be a whole number of at least 1/],
    ['matrix --repeat 2.5', /--repeat 2.5 must be a whole number/],
    ['matrix --cut none --seed x', /--cut none must be .*; --seed x must be/],
    ['matrix --quick --set screen', /Give --quick or --set, not both/],
    ['matrix rnp', /'rnp' means nothing here/],
    ['matrix --fast', /--fast/],
    ['report', /Report needs a result file/],
    ['report a.jsonl --quick --seed 2', /--quick and --seed mean nothing to report/],
    ['self-test --quick', /--quick means nothing to self-test/],
    ['self-test matrix', /'matrix' means nothing here/],
    ['--quick', /Name an experiment: one of matrix, rnp, split, signalling/],
  ])('refuses %s with a sentence that names the fix', (line, message) => {
    expect(() => readCommandLine(line.split(' '))).toThrow(message);
  });
});
