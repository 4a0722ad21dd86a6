import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  descendants,
  parseParent,
  parsePrivate,
  parseSchedstat,
  parseStatm,
  processGroup,
} from './process-group.ts';

describe('CPU, memory and descriptors of a relay', () => {
  it('reads the time on a CPU from schedstat, to the nanosecond', () => {
    expect(parseSchedstat('123456789012345678 5 6\n')).toBe(123_456_789_012_345_678n);
  });

  it('counts nothing for a thread that has ended, or for what is no schedstat', () => {
    for (const text of ['', '12\n', 'a b c\n']) expect(parseSchedstat(text)).toBe(0n);
  });

  it('reads resident memory from statm', () => {
    expect(parseStatm('2000 12 3 4 0 5 0\n')).toBe(12 * 4096);
    expect(parseStatm('')).toBe(0);
    expect(parsePrivate('2000 12 3 4 0 5 0\n')).toBe(9 * 4096);
    expect(parsePrivate('')).toBe(0);
  });

  it('finds the parent behind any program name', () => {
    expect(parseParent('7 (a) S (b)) R 42 7 7 0')).toBe(42);
  });

  it('belongs: children and their children, and nobody else', () => {
    const parentOf = new Map([
      [2, 1],
      [3, 2],
      [4, 3],
      [5, 9],
    ]);
    expect(descendants(2, parentOf)).toEqual([2, 3, 4]);
  });

  it.skipIf(process.platform !== 'linux')('sees a living process (needs Linux)', async () => {
    const child = spawn('sh', ['-c', '(echo ready; cat)'], { stdio: ['pipe', 'pipe', 'ignore'] });
    await once(child.stdout, 'data');
    const group = processGroup(child.pid);
    expect(group.rssBytes()).toBeGreaterThan(0);
    expect(group.cpuNs()).toBeGreaterThan(0n);
    expect(group.descriptors()).toBeGreaterThan(0);
    child.stdin.end();
    await once(child, 'exit');
    expect(group.rssBytes()).toBe(0);
  });

  it('is nothing where there is no process', () => {
    const group = processGroup(undefined);
    expect([group.cpuNs(), group.rssBytes(), group.descriptors()]).toEqual([0n, 0, 0]);
  });
});
