import type { Download } from '../browser/download.ts';
import type { DownloadStart, Downloads } from '../browser/downloads.ts';

/** When tests play. */
export const NOW_MS = Date.UTC(2026, 10, 21);

/** A download as browsers tell it right after its start. */
export function download(patch: Partial<Download> = {}): Download {
  const url = patch.url ?? 'https://origin.example/file.iso';
  return {
    id: 1,
    url,
    finalUrl: url,
    name: 'file.iso',
    folder: '/home/u/Downloads',
    mime: 'application/octet-stream',
    totalBytes: 50_000_000,
    bytesReceived: 0,
    startedAtMs: NOW_MS,
    state: 'in_progress',
    paused: false,
    error: undefined,
    canResume: false,
    incognito: false,
    isContained: false,
    isWarnedOf: false,
    referrer: 'https://page.example/',
    addonId: undefined,
    ...patch,
  };
}

/** A browser's list of downloads; `log` has every action in the order in which the add-on asked for it. */
export class FakeDownloads implements Downloads {
  readonly items = new Map<number, Download>();
  readonly log: string[] = [];
  /** What was started last. */
  started: DownloadStart | undefined;
  /** URLs whose start the browser refuses. */
  readonly refused = new Set<string>();
  /** What a resumption leads to. */
  onResume: (id: number) => Promise<void> = async (id) =>
    this.change(id, { state: 'in_progress', paused: false, error: undefined });

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

  async find(url: string): Promise<readonly Download[]> {
    return [...this.items.values()].filter((item) => item.url === url).toReversed();
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

  async removeFile(id: number): Promise<void> {
    this.log.push(`remove ${id}`);
  }

  async pause(id: number): Promise<void> {
    this.log.push(`pause ${id}`);
    this.change(id, { paused: true });
  }

  resume(id: number): Promise<void> {
    this.log.push(`resume ${id}`);
    return this.onResume(id);
  }

  async start(start: DownloadStart): Promise<number> {
    const { url, name } = start;
    this.log.push(`start ${url}${name === '' ? '' : ` as ${name}`}`);
    this.started = start;
    if (this.refused.has(url)) throw new Error('refused');
    const id = Math.max(0, ...this.items.keys()) + 1;
    this.items.set(id, download({ id, url, finalUrl: url, name, addonId: 'longhaul' }));
    return id;
  }
}
