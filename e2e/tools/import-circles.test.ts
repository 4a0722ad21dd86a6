import { describe, expect, test } from 'vitest';
import { describeCircle, findCircles, judgeCircles, type Sources } from './import-circles.ts';

/** Sources of these paths, each with imports of others. */
function sources(imports: Readonly<Record<string, readonly string[]>>): Sources {
  return new Map(
    Object.entries(imports).map(([file, specifiers]) => [
      file,
      specifiers.map((specifier) => `import { it } from '${specifier}';\n`).join(''),
    ]),
  );
}

const ENTRY_AND_LANES = sources({
  'src/app.ts': ['./entry/serve.ts'],
  'src/entry/serve.ts': ['../lanes/lane.ts', './headers.ts'],
  'src/entry/headers.ts': [],
  'src/lanes/lane.ts': ['./law.ts'],
  'src/lanes/law.ts': ['../entry/headers.ts'],
});

const membersOf = (of: Sources) => findCircles(of).map(({ folder, members }) => [folder, ...members]);

describe('a circle of imports', () => {
  test('between folders is found although no file imports itself around, and named with the files that tie it', () => {
    const [circle, ...others] = findCircles(ENTRY_AND_LANES);
    expect(others).toEqual([]);
    expect(circle && describeCircle(circle)).toBe(
      [
        'In src these import each other: entry, lanes',
        '  entry -> lanes: entry/serve.ts imports lanes/lane.ts',
        '  lanes -> entry: lanes/law.ts imports entry/headers.ts',
      ].join('\n'),
    );
  });

  test('is found at every depth: among folders in a folder, and among the files of one', () => {
    const deep = sources({
      'e2e/lab/a/one.ts': ['../b/two.ts'],
      'e2e/lab/b/two.ts': ['../c/three.ts', './four.ts'],
      'e2e/lab/c/three.ts': ['../a/other.ts'],
      'e2e/lab/a/other.ts': [],
      'e2e/lab/b/four.ts': ['./two.ts'],
    });
    expect(membersOf(deep)).toEqual([
      ['e2e/lab', 'a', 'b', 'c'],
      ['e2e/lab/b', 'four.ts', 'two.ts'],
    ]);
  });

  test('over a file beside the folders is one, too', () => {
    const beside = sources({ 'src/events.ts': ['./entry/a.ts'], 'src/entry/a.ts': ['../events.ts'] });
    expect(membersOf(beside)).toEqual([['src', 'entry', 'events.ts']]);
  });

  test.each([
    ['types alone', "import type { It } from './b.ts';"],
    ['what is exported again', "export * from './b.ts';"],
    ['what is imported late', "const it = await import('./b.ts');"],
    ['what is imported for its effects', "import './b.ts';"],
    ['a list of several lines', "import {\n  one,\n  two,\n} from './b.ts';"],
  ])('counts %s', (_, text) => {
    const both = new Map([
      ['src/a.ts', text],
      ['src/b.ts', "import { it } from './a.ts';"],
    ]);
    expect(membersOf(both)).toEqual([['src', 'a.ts', 'b.ts']]);
  });

  test('is none where all point one way, to a package, or to what is no source', () => {
    const straight = sources({
      'src/a/one.ts': ['../b/two.ts', '@longhaul/shared', './page.css', './one.ts'],
      'src/b/two.ts': ['../c/three.ts', 'node:fs'],
      'src/c/three.ts': [],
    });
    expect(findCircles(straight)).toEqual([]);
  });
});

describe('known circles', () => {
  const known = { folder: 'src', members: ['entry', 'lanes', 'stepwise'], why: 'is being opened' };

  test('pass, also when a part of them has been opened', () => {
    expect(judgeCircles(findCircles(ENTRY_AND_LANES), [known])).toEqual({ unknown: [], opened: [] });
  });

  test('do not cover one with another member, or in another folder', () => {
    const circles = findCircles(ENTRY_AND_LANES);
    expect(judgeCircles(circles, [{ ...known, members: ['entry', 'stepwise'] }]).unknown).toEqual(circles);
    expect(judgeCircles(circles, [{ ...known, folder: 'lib' }]).unknown).toEqual(circles);
  });

  test('must leave the list once they are opened', () => {
    expect(judgeCircles([], [known])).toEqual({ unknown: [], opened: [known] });
  });
});
