import type { DownloadItem, Suggest } from '../browser/browser-api.ts';
import type { JobStore } from '../jobs/job-store.ts';

/**
 * Answers Chromium's question for a file name, exactly once: the original's name for the add-on's own downloads, whose
 * `filename` option Chromium ignores while it has this question to ask; nothing for all others, at once.
 * @returns whether the answer comes later, which Chromium wants to be told.
 */
export function suggestName(item: DownloadItem, suggest: Suggest, addonId: string, jobs: JobStore): boolean {
  if (item.byExtensionId !== addonId) {
    suggest();
    return false;
  }
  void jobs.ofUrl(item.url).then(
    (job) => (job?.name ? suggest({ filename: job.name, conflictAction: 'uniquify' }) : suggest()),
    () => suggest(),
  );
  return true;
}
