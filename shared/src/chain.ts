/** Depot ids, the entry depot first. */
export type Chain = readonly string[];

/** A text that two chains have in common only if they pass the same depots in the same order. */
export function chainKey(chain: Chain): string {
  return chain.join();
}

/** Whether two chains pass the same depots in the same order. */
export function isSameChain(one: Chain, other: Chain): boolean {
  return chainKey(one) === chainKey(other);
}

/** The chain of a key: no id has a comma. */
export function chainOf(key: string): Chain {
  return key.split(',');
}
