import { describe, expect, it } from 'vitest';
import { LabRefusal } from '../lab/refusal.ts';
import { readCommandLine } from './command-line.ts';

function refusal(...args: string[]): LabRefusal {
  try {
    readCommandLine(args);
  } catch (failure) {
    if (failure instanceof LabRefusal) return failure;
    throw failure;
  }
  throw new Error('nothing was refused');
}

describe('the command line of the benchmark', () => {
  it('asks for help when it says nothing', () => {
    expect(readCommandLine([])).toEqual({ kind: 'help' });
    expect(readCommandLine(['relay', '--help'])).toEqual({ kind: 'help' });
  });

  it('chooses relays and flows', () => {
    const command = readCommandLine([
      'relay',
      '--relays',
      'direct, node-pipe',
      '--flows',
      '8,1,8',
      '--repeat',
      '2',
    ]);
    expect(command).toMatchObject({
      kind: 'relay',
      relays: ['direct', 'node-pipe'],
      options: { quick: false, flows: [8, 1], repeats: 2, congestionControl: 'cubic' },
    });
  });

  it('chooses a case by its name, and all whose names begin so', () => {
    const chosen = (...cases: string[]) => readCommandLine(['relay', '--cases', cases.join(',')]);
    expect(chosen('rest', 'lanes')).toMatchObject({ options: { cases: ['rest', 'lanes'] } });
    expect(chosen('beginnings')).toMatchObject({ options: { cases: ['beginnings-1', 'beginnings-3'] } });
    expect(refusal('relay', '--cases', 'begin').message).toContain("no case 'begin'");
  });

  it('refuses with every mistake at once', () => {
    const { code, message } = refusal(
      'relay',
      '--relays',
      'haproxy',
      '--flows',
      '0,x',
      '--congestion',
      'bbr',
    );
    expect(code).toBe('lab-input-invalid');
    for (const word of ["no relay 'haproxy'", '--flows 0', '--flows x', '--congestion bbr'])
      expect(message).toContain(word);
  });

  it('measures an overlay of facts that is as large as a registry, or smaller', () => {
    expect(readCommandLine(['facts'])).toMatchObject({ kind: 'facts', depots: 1000, links: 20, repeats: 3 });
    expect(readCommandLine(['facts', '--depots', '10', '--seconds', '5'])).toMatchObject({
      depots: 10,
      seconds: 5,
    });
    expect(refusal('facts', '--depots', '1001', '--links', 'x').message).toMatch(/--depots 1001.*--links x/);
  });

  it('refuses another benchmark, an option nobody knows, and a report of nothing', () => {
    expect(refusal('resolver').message).toContain('relay');
    expect(refusal('relay', '--fast').message).toContain('--help');
    expect(refusal('report').message).toContain('result file');
  });
});
