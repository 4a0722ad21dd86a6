/**
 * The part of the metadata reflection API that `tsyringe`, a dependency of `@peculiar/x509`, looks for when it is
 * loaded. `@peculiar/x509` injects nothing into its own classes, so this small store replaces a whole package.
 * Import this module before `@peculiar/x509`.
 */
const store = new WeakMap<object, Map<string, unknown>>();

function getMetadata(key: string, target: object): unknown {
  return store.get(target)?.get(key);
}

function defineMetadata(key: string, value: unknown, target: object): void {
  const entries = store.get(target) ?? new Map<string, unknown>();
  store.set(target, entries.set(key, value));
}

if (!('getMetadata' in Reflect)) {
  Object.assign(Reflect, { getMetadata, getOwnMetadata: getMetadata, defineMetadata });
}
