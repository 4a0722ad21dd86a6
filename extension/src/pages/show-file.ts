interface Folders {
  /** Chromium throws where there is no such download, Firefox rejects. */
  readonly show: (downloadId: number) => unknown;
  readonly showDefaultFolder: () => unknown;
}

/** Shows a file in its folder; the folder of all downloads where the browser knows the file no more. */
export async function showFile(downloadId: number, folders: Folders): Promise<void> {
  try {
    await folders.show(downloadId);
  } catch {
    await folders.showDefaultFolder();
  }
}
