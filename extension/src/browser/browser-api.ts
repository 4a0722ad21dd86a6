/** The one place that names the browser's extension API: Firefox has `browser`, older Chromium only `chrome`. */
export const api: typeof chrome = globalThis.browser ?? globalThis.chrome;

export type DownloadItem = chrome.downloads.DownloadItem;
export type Suggest = (suggestion?: chrome.downloads.FilenameSuggestion) => void;
export type StorageArea = Pick<chrome.storage.StorageArea, 'get' | 'set'>;
export type Tab = chrome.tabs.Tab;
