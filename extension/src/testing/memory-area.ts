import type { StorageArea } from '../browser/browser-api.ts';

/** Storage of a browser, in memory; what is stored is copied, as browsers do. */
export function memoryArea(stored: Record<string, unknown> = {}): StorageArea {
  const area = {
    get: async (key: string) => ({ [key]: structuredClone(stored[key]) }),
    set: async (items: Record<string, unknown>) => {
      Object.assign(stored, structuredClone(items));
    },
  };
  return area as unknown as StorageArea;
}

/** Storage that has no room for anything new. */
export function fullArea(stored: Record<string, unknown> = {}): StorageArea {
  const full = async () => Promise.reject(new Error('QUOTA_BYTES quota exceeded'));
  return { ...memoryArea(stored), set: full };
}
