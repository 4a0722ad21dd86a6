import type { Download } from '../browser/download.ts';
import type { Downloads } from '../browser/downloads.ts';

/** A download as browsers tell it right after its start. */
export function download(patch: Partial<Download> = {}): Download {
  const url = patch.url ?? 'https://origin.example/file.iso';
  return {
    id: 1,
    url,
    finalUrl: url,
    name: 'file.iso',
    mime: 'application/octet-stream',
    totalBytes: 50_000_000,
    bytesReceived: 0,
    startedAtMs: Date.UTC(2026, 10, 21),
    state: 'in_progress',
    paused: false,
    error: undefined,
    canResume: false,
    incognito: false,
    isContained: false,
    referrer: 'https://page.example/',
    addonId: undefined,
    ...patch,
  };
}

/** A browser's list of downloads; `log` has every action in the order in which the add-on asked for it. */
export class FakeDownloads implements Downloads {
  readonly items = new Map<number, Download>();
  readonly log: string[] = [];
  /** URLs whose start the browser refuses. */
  readonly refused = new Set<string>();
  /** What a resumption leads to. */
  onResume: (id: number) => Promise<void> = async (id) =>
    this.change(id, { state: 'in_progress', error: undefined });

  constructor(...items: Download[]) {
    for (const item of items) this.items.set(item.id, item);
  }

  change(id: number, patch: Partial<Download>): void {
    const item = this.items.get(id);
    if (item) this.items.set(id, { ...item, ...patch });
  }

  async get(id: number): Promise<Download | undefined> {
    return this.items.get(id);
  }

  async find(url: string): Promise<Download | undefined> {
    return [...this.items.values()].findLast((item) => item.url === url);
  }

  async cancel(id: number): Promise<void> {
    this.log.push(`cancel ${id}`);
    if (this.items.get(id)?.state !== 'complete') {
      this.change(id, { state: 'interrupted', error: 'USER_CANCELED', canResume: false });
    }
  }

  async erase(id: number): Promise<void> {
    this.log.push(`erase ${id}`);
    this.items.delete(id);
  }

  resume(id: number): Promise<void> {
    this.log.push(`resume ${id}`);
    return this.onResume(id);
  }

  async start(url: string, name: string): Promise<number> {
    this.log.push(`start ${url} as ${name}`);
    if (this.refused.has(url)) throw new Error('refused');
    const id = Math.max(0, ...this.items.keys()) + 1;
    this.items.set(id, download({ id, url, finalUrl: url, name }));
    return id;
  }
}
