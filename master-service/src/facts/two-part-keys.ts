/**
 * The key of a fact about two things, such as who tells and what of: both with a space between. The form of
 * its kind's keys sees to it that the first one has none.
 */
export function keyOf(first: string, second: string): string {
  return `${first} ${second}`;
}

/** What a key was made of. */
export function partsOf(key: string): readonly [first: string, second: string] {
  return [firstOf(key), secondOf(key)];
}

export function firstOf(key: string): string {
  return key.slice(0, key.indexOf(' '));
}

export function secondOf(key: string): string {
  return key.slice(key.indexOf(' ') + 1);
}
