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
  /** Where the file goes; empty until that is known. */
  readonly folder: string;
  /** Media type; empty when the browser does not know it. */
  readonly mime: string;
  readonly totalBytes: number | undefined;
  readonly bytesReceived: number;
  /** When it was first asked for, in Firefox when it was last started; `undefined` until the browser knows. */
  readonly startedAtMs: number | undefined;
  readonly state: 'in_progress' | 'interrupted' | 'complete';
  readonly paused: boolean;
  /** The browser's reason of an interruption, for example `NETWORK_FAILED`. */
  readonly error: string | undefined;
  readonly canResume: boolean;
  /** Whether the browser warns of it, by its address, its site or what is in it. */
  readonly isWarnedOf: boolean;
  readonly incognito: boolean;
  /** Whether it belongs to one of Firefox's containers, whose cookies an add-on's downloads do not have. */
  readonly isContained: boolean;
  readonly referrer: string;
  /** Id of the add-on that started it. Chromium leaves it out in its first event. */
  readonly addonId: string | undefined;
}

/** Firefox leaves out or nulls some fields that the types promise, and has one more. */
type LooseItem = { [K in keyof DownloadItem]?: DownloadItem[K] | null } & Pick<
  DownloadItem,
  'id' | 'url' | 'state' | 'bytesReceived'
> & { readonly cookieStoreId?: string };

/**
 * Of the dangers that browsers know, those that are of this one file; the others are of its kind, or not
 * decided yet.
 */
const WARNED_OF = new Set(['url', 'host', 'content', 'unwanted', 'accountCompromise']);

/** Whether this is where a container of Firefox keeps its cookies. Other browsers name no such place. */
export function isContainer(cookieStoreId: string | null | undefined): boolean {
  return (cookieStoreId ?? 'firefox-default') !== 'firefox-default';
}

export function toDownload(item: LooseItem): Download {
  return {
    id: item.id,
    url: item.url,
    finalUrl: item.finalUrl || item.url,
    ...splitPath(item.filename ?? ''),
    mime: item.mime ?? '',
    totalBytes: sizeOf(item),
    bytesReceived: item.bytesReceived,
    startedAtMs: item.startTime ? Date.parse(item.startTime) : undefined,
    state: item.state,
    paused: item.paused ?? false,
    error: item.error ?? undefined,
    canResume: item.canResume ?? false,
    isWarnedOf: WARNED_OF.has(item.danger ?? ''),
    incognito: item.incognito ?? false,
    isContained: isContainer(item.cookieStoreId),
    referrer: item.referrer ?? '',
    addonId: item.byExtensionId ?? undefined,
  };
}

/** 0 is no size that was told, but what is whole is as long as what came: an empty answer is whole, too. */
function sizeOf({ totalBytes, fileSize, state, bytesReceived }: LooseItem): number | undefined {
  const told = [totalBytes, fileSize].find((size): size is number => (size ?? 0) > 0);
  return told ?? (state === 'complete' ? bytesReceived : undefined);
}

/** What the browser, its managers or what looks for viruses do not let come. */
export const FORBIDDEN = /^FILE_(BLOCKED|VIRUS|SECURITY)/;

/** Whether the browser cannot or must not write the file: no attempt helps then. */
export function isUnwritable({ error = '' }: Partial<Pick<Download, 'error'>>): boolean {
  return error.startsWith('FILE_') && error !== 'FILE_TRANSIENT_ERROR';
}

function splitPath(path: string): Pick<Download, 'name' | 'folder'> {
  const end = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  return { name: path.slice(end + 1), folder: path.slice(0, Math.max(end, 0)) };
}
