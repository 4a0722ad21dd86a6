import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quoteFor } from './shell-quoting.ts';
import { cmdArguments, powershellArguments } from './testing/windows-shells.ts';

/** Anything that could end a quote, begin a command or name a variable, among any other character. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(...'\'"%$`!&^|<>();~#*?[]{}=\\ -@,:+'.split('')),
      fc.constantFrom(
        '%PATH%',
        '$HOME',
        '$(id)',
        '`id`',
        '!!',
        "'\\''",
        '‘',
        '’',
        '“',
        '%C4%90',
        'ü',
        '💾',
        'a',
      ),
      fc.string({ unit: 'grapheme' }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join('').replaceAll('\0', '').toWellFormed());
const without = (pattern: RegExp) => hostile.map((text) => text.replace(pattern, ''));

test('sh changes nothing between our quotes, line breaks included: asked of a real one', () => {
  const lists = fc.array(
    fc.tuple(hostile, fc.constantFrom('', '\n', '\t', '\r\n')).map((parts) => parts.join('')),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(lists, (list) => {
      const script = `printf '%s\\0' ${list.map((text) => quoteFor('sh', text)).join(' ')}`;
      expect(execFileSync('sh', ['-c', script]).toString().split('\0').slice(0, -1)).toEqual(list);
    }),
    { numRuns: 100 },
  );
});

// There is neither PowerShell nor cmd where these tests run: their documented rules stand in for them.
describe('by the documented rules', () => {
  test('PowerShell changes nothing between our quotes, on its way to a program either', () => {
    // A name has no backslash, and an address no space: no argument has both a space and a backslash at its end.
    const lists = fc.array(without(/["\\]+$|"/g), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(lists, (list) => {
        const line = `x.exe ${list.map((text) => quoteFor('powershell', text)).join(' ')}`;
        expect(powershellArguments(line)).toEqual(list.filter((text) => text !== ''));
      }),
      { numRuns: 2000 },
    );
  });

  test('cmd changes nothing between our quotes, whatever variables there are', () => {
    fc.assert(
      fc.property(fc.array(without(/[\r\n]/g), { minLength: 1, maxLength: 5 }), (list) => {
        const line = `x ${list.map((text) => quoteFor('cmd', text)).join(' ')}`;
        expect(cmdArguments(line)).toEqual(list);
      }),
      { numRuns: 5000 },
    );
  });

  test('our stand-in for cmd does replace variables and split commands, where nothing is quoted', () => {
    expect(cmdArguments('x a%PATH%b "c%PATH%d"')).toEqual(['a[PATH]b', 'c[PATH]d']);
    expect(() => cmdArguments('x a&b')).toThrow('another command');
    expect(cmdArguments('x "a&b" c^&d')).toEqual(['a&b', 'c&d']);
    expect(() => powershellArguments("x.exe 'a'b")).toThrow('quote');
  });
});
