import { api } from './browser-api.ts';
import { type Download, toDownload } from './download.ts';

/** What the add-on does with the browser's downloads. */
export interface Downloads {
  get(id: number): Promise<Download | undefined>;
  /** The newest download of exactly this URL. */
  find(url: string): Promise<Download | undefined>;
  cancel(id: number): Promise<void>;
  /** Removes it from the browser's list. */
  erase(id: number): Promise<void>;
  /** Settles when Chromium has taken it up again, in Firefox only when the download has ended. */
  resume(id: number): Promise<void>;
  /** Starts a download into the downloads folder; an existing file of that name is kept beside it. */
  start(url: string, name: string): Promise<number>;
}

export const browserDownloads: Downloads = {
  get: async (id) => {
    const [item] = await api.downloads.search({ id });
    return item && toDownload(item);
  },
  find: async (url) => {
    const [item] = await api.downloads.search({ url, orderBy: ['-startTime'], limit: 1 });
    return item && toDownload(item);
  },
  cancel: (id) => api.downloads.cancel(id),
  erase: async (id) => {
    await api.downloads.erase({ id });
  },
  resume: (id) => api.downloads.resume(id),
  start: async (url, name) => {
    const options = { url, conflictAction: 'uniquify' } as const;
    if (name === '') return api.downloads.download(options);
    // A name that the file system took may still be refused by the API: better another name than no file.
    return api.downloads
      .download({ ...options, filename: name })
      .catch(() => api.downloads.download(options));
  },
};
