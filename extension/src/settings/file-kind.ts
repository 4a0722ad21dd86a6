/** Which kinds of files the user wants through chains, by the ends of their names. */
export interface KindRule {
  /** `all`: whatever its name; `only`: those of the list; `except`: all but those. */
  readonly mode: 'all' | 'only' | 'except';
  readonly kinds: readonly string[];
}

export const ALL_KINDS: KindRule = { mode: 'all', kinds: [] };

/** Longer ends of names are none, but part of the name. */
const LONGEST_KIND = 10;
const KIND = new RegExp(`^(tar\\.)?[a-z0-9]{1,${LONGEST_KIND}}$`);

/** The kind of a file, as the end of its name without the dot: `iso`, `tar.gz`; empty when its name has none. */
export function kindOf(name: string): string {
  const parts = name.toLowerCase().split('.').slice(1);
  const two = parts.slice(-2).join('.');
  const kind = parts.at(-2) === 'tar' ? two : (parts.at(-1) ?? '');
  return KIND.test(kind) ? kind : '';
}

/** A kind as people type it, `.ISO`, as it is stored; `undefined` when it is none. */
export function parseKind(text: string): string | undefined {
  const kind = text
    .trim()
    .toLowerCase()
    .replace(/^\*?\./, '');
  return KIND.test(kind) ? kind : undefined;
}

/** Whether a file of this name is of a kind that the user wants. `gz` stands for `tar.gz`, too. */
export function isWantedKind(name: string, { mode, kinds }: KindRule): boolean {
  if (mode === 'all') return true;
  const kind = kindOf(name);
  const isListed = kinds.includes(kind) || kinds.includes(kind.replace(/^tar\./, ''));
  return isListed === (mode === 'only');
}
