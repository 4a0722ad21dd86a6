import type { DownloadItem } from './browser-api.ts';

/** A download of the browser, in one form for all browsers. */
export interface Download {
  readonly id: number;
  /** What was asked for; Firefox gives the last URL of a chain of redirects here too. */
  readonly url: string;
  /** Where redirects led. */
  readonly finalUrl: string;
  /** Name of the file without its folder; empty until the browser, or the user in a dialog, has chosen it. */
  readonly name: string;
  /** Media type; empty when the browser does not know it. */
  readonly mime: string;
  readonly totalBytes: number | undefined;
  readonly bytesReceived: number;
  readonly state: 'in_progress' | 'interrupted' | 'complete';
  readonly paused: boolean;
  /** The browser's reason of an interruption, for example `NETWORK_FAILED`. */
  readonly error: string | undefined;
  readonly canResume: boolean;
  readonly incognito: boolean;
  readonly referrer: string;
  /** Id of the add-on that started it. Chromium leaves it out in its first event. */
  readonly addonId: string | undefined;
}

/** Firefox leaves out or nulls some fields that the types promise. */
type LooseItem = { [K in keyof DownloadItem]?: DownloadItem[K] | null } & Pick<
  DownloadItem,
  'id' | 'url' | 'state' | 'bytesReceived'
>;

export function toDownload(item: LooseItem): Download {
  return {
    id: item.id,
    url: item.url,
    finalUrl: item.finalUrl || item.url,
    name: baseName(item.filename ?? ''),
    mime: item.mime ?? '',
    totalBytes: [item.totalBytes, item.fileSize].find((size): size is number => (size ?? 0) > 0),
    bytesReceived: item.bytesReceived,
    state: item.state,
    paused: item.paused ?? false,
    error: item.error ?? undefined,
    canResume: item.canResume ?? false,
    incognito: item.incognito ?? false,
    referrer: item.referrer ?? '',
    addonId: item.byExtensionId ?? undefined,
  };
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}
