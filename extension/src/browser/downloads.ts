import { api } from './browser-api.ts';
import { type Download, toDownload } from './download.ts';

/** A download that the add-on starts. */
export interface DownloadStart {
  readonly url: string;
  /** Name in the downloads folder; a file that has it already is kept beside it. Empty for the browser's choice. */
  readonly name: string;
  /** More headers of its requests, also of resumed ones while the browser runs. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Whether it is to outlive the browser, which Firefox keeps it for only where it looks at no answer for the
   * add-on: then a refusal is saved as the file, and whoever starts it has to look himself. Firefox only.
   */
  readonly outlives?: boolean;
}

/** What the add-on does with the browser's downloads. */
export interface Downloads {
  get(id: number): Promise<Download | undefined>;
  /** All downloads of exactly this URL, the newest first. */
  find(url: string): Promise<readonly Download[]>;
  cancel(id: number): Promise<void>;
  /** Removes it from the browser's list. */
  erase(id: number): Promise<void>;
  /** Removes the file of one that is complete. */
  removeFile(id: number): Promise<void>;
  /** Chromium keeps the connection of a paused download, Firefox ends it. */
  pause(id: number): Promise<void>;
  /** Settles when Chromium has taken it up again, in Firefox only when the download has ended. */
  resume(id: number): Promise<void>;
  /** Starts a download into the downloads folder, without a dialog. */
  start(start: DownloadStart): Promise<number>;
}

export const browserDownloads: Downloads = {
  get: async (id) => {
    const [item] = await api.downloads.search({ id });
    return item && toDownload(item);
  },
  find: async (url) => (await api.downloads.search({ url, orderBy: ['-startTime'] })).map(toDownload),
  cancel: (id) => api.downloads.cancel(id),
  erase: async (id) => {
    await api.downloads.erase({ id });
  },
  removeFile: (id) => api.downloads.removeFile(id),
  pause: (id) => api.downloads.pause(id),
  resume: (id) => api.downloads.resume(id),
  start: async ({ url, name, headers = {}, outlives = false }) => {
    const lines = Object.entries(headers).map(([header, value]) => ({ name: header, value }));
    const options = {
      url,
      conflictAction: 'uniquify',
      saveAs: false,
      ...(lines.length > 0 ? { headers: lines } : {}),
      ...(outlives ? { allowHttpErrors: true } : {}),
    } as const;
    if (name === '') return api.downloads.download(options);
    // A name that the file system took may still be refused by the API: better another name than no file.
    return api.downloads
      .download({ ...options, filename: name })
      .catch(() => api.downloads.download(options));
  },
};
