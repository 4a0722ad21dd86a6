/**
 * Gives `Reflect` the part of the metadata API that `tsyringe`, a dependency of `@peculiar/x509`, insists on when it is
 * loaded; so call this before. As `@peculiar/x509` injects nothing into its own classes, this replaces a whole package.
 */
export function provideMetadataStore(): void {
  if ('getMetadata' in Reflect) return;
  const store = new WeakMap<object, Map<string, unknown>>();

  function getMetadata(key: string, target: object): unknown {
    return store.get(target)?.get(key);
  }

  function defineMetadata(key: string, value: unknown, target: object): void {
    const entries = store.get(target) ?? new Map<string, unknown>();
    store.set(target, entries.set(key, value));
  }

  Object.assign(Reflect, { getMetadata, getOwnMetadata: getMetadata, defineMetadata });
}
