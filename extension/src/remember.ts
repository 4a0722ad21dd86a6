/** Puts an entry into a map as its newest, and forgets the oldest of more than `most`. */
export function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
