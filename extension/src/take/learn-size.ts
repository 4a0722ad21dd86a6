import type { Download } from '../browser/download.ts';
import type { Downloads } from '../browser/downloads.ts';

/** Between two looks at a download whose size is not known yet. */
const PAUSE_MS = 40;
/** Looks in all: the first bytes of a download that takes longer are late anyway. */
const MAX_PAUSES = 10;

/**
 * The size of a download that has just begun. Firefox tells it only with the first bytes, a moment after its first
 * event; when they have come without a size, the server gave none.
 */
export async function learnSize(
  caught: Download,
  { downloads, pause }: { readonly downloads: Downloads; readonly pause: (ms: number) => Promise<void> },
): Promise<number | undefined> {
  let download: Download | undefined = caught;
  for (let pauses = 0; pauses < MAX_PAUSES && isOpen(download); pauses += 1) {
    await pause(PAUSE_MS);
    download = await downloads.get(caught.id);
  }
  return download?.totalBytes;
}

function isOpen(download: Download | undefined): download is Download {
  return (
    download?.state === 'in_progress' && download.totalBytes === undefined && download.bytesReceived === 0
  );
}
