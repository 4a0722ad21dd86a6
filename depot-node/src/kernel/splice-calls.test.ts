import { readlinkSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bindDescriptorCalls } from './descriptor-calls.ts';
import { openLibc } from './libc.ts';
import { FCNTL } from './linux-constants.ts';
import { openKernel } from './open-kernel.ts';
import { bindSpliceCalls } from './splice-calls.ts';

const MIB = 1_048_576;
const access = openKernel();
const why = access.kernel ? '' : ` (skipped: ${access.reason})`;

/** Real pipes, of a kernel that makes none larger than this, and says so or refuses to make one larger at all. */
function callsGranting(mostBytes: number, isRefused: boolean) {
  const libc = openLibc();
  const opened: number[] = [];
  const bind: typeof libc.bind = (name, ...types) => {
    const call = libc.bind(name, ...types);
    if (name !== 'fcntl') return call;
    return (descriptor, command, wanted) => {
      if (command !== FCNTL.setPipeSize) return call(descriptor, command, wanted);
      opened.push(Number(descriptor));
      const granted = call(descriptor, command, Math.min(Number(wanted), mostBytes));
      return isRefused ? -1 : granted;
    };
  };
  const descriptors = bindDescriptorCalls(libc);
  const calls = bindSpliceCalls({ ...libc, bind }, descriptors);
  return { calls, descriptors, opened };
}

/** The pipe that a descriptor of this process is an end of, if it is one. */
function pipeAt(descriptor: number | undefined): string | undefined {
  try {
    return /^pipe:.*/.exec(readlinkSync(`/proc/self/fd/${descriptor}`))?.[0];
  } catch {
    return undefined;
  }
}

describe.skipIf(!access.kernel)(`a pipe${why}`, () => {
  test.each([
    [MIB, false],
    [65_536, true],
  ])('is given where the kernel grants it enough bytes: %i', (mostBytes, isRefused) => {
    const { calls, descriptors } = callsGranting(mostBytes, isRefused);
    const pipe = calls.makePipe(MIB, 65_536);
    onTestFinished(() => {
      for (const end of pipe ? [pipe.output, pipe.input] : []) descriptors.close(end);
    });
    expect(pipeAt(pipe?.input)).toBeDefined();
    expect(pipeAt(pipe?.output)).toBe(pipeAt(pipe?.input));
  });

  test.each([[false], [true]])(
    'that is granted too few is none, and costs no descriptor (refused: %s)',
    (isRefused) => {
      const { calls, opened } = callsGranting(8192, isRefused);
      expect(calls.makePipe(MIB, 65_536)).toBeUndefined();
      expect(opened).toHaveLength(1);
      expect(pipeAt(opened[0])).toBeUndefined();
    },
  );
});
