import { posix } from 'node:path';

/** Sources by path, from the repository's root on, with `/`. */
export type Sources = ReadonlyMap<string, string>;

/** Folders, or files, of one folder that import each other around. */
export interface Circle {
  readonly folder: string;
  /** Names inside the folder: of subfolders, which stand for all that is below them, and of files. */
  readonly members: readonly string[];
  readonly ties: readonly Tie[];
}

interface Tie {
  readonly from: string;
  readonly to: string;
  /** Which file imports which, from the folder on. */
  readonly imports: readonly (readonly [importer: string, imported: string])[];
}

/** A circle that is to be opened, and why it is still there. */
export interface KnownCircle {
  readonly folder: string;
  readonly members: readonly string[];
  readonly why: string;
}

/** Imports and re-exports of a file, also of types alone: who reads a file must know what it imports. */
const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

/**
 * Finds every circle of imports, at each level: subfolders of one folder that import each other, files beside them, and
 * files of one folder among themselves. Imports of packages, and of what is not among the sources, lead nowhere.
 */
export function findCircles(sources: Sources): Circle[] {
  const levels = new Map<string, Level>();
  for (const [importer, text] of sources) {
    for (const [, specifier = ''] of text.matchAll(IMPORT)) {
      const imported = posix.join(posix.dirname(importer), specifier);
      if (imported !== importer && sources.has(imported)) note(levels, importer, imported);
    }
  }
  return [...levels]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([folder, level]) =>
      tangles(level).map((members) => ({ folder, members, ties: tiesOf(level, members) })),
    );
}

/** Circles that no known one covers, and known ones that are no more: both must change before the check passes. */
export function judgeCircles(
  circles: readonly Circle[],
  known: readonly KnownCircle[],
): { readonly unknown: readonly Circle[]; readonly opened: readonly KnownCircle[] } {
  const covers = (one: KnownCircle, { folder, members }: Circle) =>
    one.folder === folder && members.every((member) => one.members.includes(member));
  return {
    unknown: circles.filter((circle) => !known.some((one) => covers(one, circle))),
    opened: known.filter((one) => !circles.some((circle) => covers(one, circle))),
  };
}

/** A circle in words, with the files that tie it. */
export function describeCircle({ folder, members, ties }: Circle): string {
  const lines = ties.map(({ from, to, imports }) => {
    const [first] = imports;
    const others = imports.length > 1 ? `, and ${imports.length - 1} more` : '';
    return `  ${from} -> ${to}: ${first?.[0]} imports ${first?.[1]}${others}`;
  });
  return [`In ${folder} these import each other: ${members.join(', ')}`, ...lines].join('\n');
}

/** Of one folder: which of its members imports which other, by which files. */
type Level = Map<string, Map<string, [string, string][]>>;

function note(levels: Map<string, Level>, importer: string, imported: string): void {
  const [from, to] = [importer.split('/'), imported.split('/')];
  const depth = from.findIndex((part, index) => part !== to[index]);
  const folder = from.slice(0, depth).join('/');
  const level = valueOf(levels, folder, (): Level => new Map());
  const targets = valueOf(level, from[depth] ?? '', () => new Map<string, [string, string][]>());
  const imports = valueOf(targets, to[depth] ?? '', (): [string, string][] => []);
  imports.push([from.slice(depth).join('/'), to.slice(depth).join('/')]);
}

function valueOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Members that reach each other, as sets of two and more. */
function tangles(level: Level): string[][] {
  const reached = new Map([...level.keys()].map((member) => [member, reachedFrom(level, member)]));
  const seen = new Set<string>();
  return [...level.keys()].toSorted().flatMap((member) => {
    if (seen.has(member) || !reached.get(member)?.has(member)) return [];
    const tangle = [...level.keys()].filter(
      (other) => reached.get(member)?.has(other) && reached.get(other)?.has(member),
    );
    for (const other of tangle) seen.add(other);
    return [tangle.toSorted()];
  });
}

function reachedFrom(level: Level, start: string): Set<string> {
  const reached = new Set<string>();
  const waiting = [start];
  for (let member = waiting.pop(); member !== undefined; member = waiting.pop()) {
    for (const next of level.get(member)?.keys() ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      waiting.push(next);
    }
  }
  return reached;
}

function tiesOf(level: Level, members: readonly string[]): Tie[] {
  return members.flatMap((from) =>
    members.flatMap((to) => {
      const imports = level.get(from)?.get(to);
      return imports ? [{ from, to, imports }] : [];
    }),
  );
}
