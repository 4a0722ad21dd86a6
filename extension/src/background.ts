/**
 * The background: builds its parts and registers every listener at once, so that an event which wakes it finds its
 * listener. What must outlive it is in the browser's storage.
 */

import { askMaster } from './ask/ask-master.ts';
import { probeDepot } from './ask/probe-depot.ts';
import { api } from './browser/browser-api.ts';
import { toDownload } from './browser/download.ts';
import { browserDownloads as downloads } from './browser/downloads.ts';
import { JobFollower } from './jobs/job-follower.ts';
import { JobStore } from './jobs/job-store.ts';
import { recoverJobs } from './jobs/recover-jobs.ts';
import { answerMessages } from './messages/answer-messages.ts';
import { readStatus } from './messages/read-status.ts';
import { SettingsStore } from './settings/settings-store.ts';
import { testMaster } from './settings/test-master.ts';
import { LastLeft } from './take/last-left.ts';
import { suggestName } from './take/suggest-name.ts';
import { type TakeDependencies, takeDownload } from './take/take-download.ts';
import { pageOfRequest, RecentRequests } from './watch/recent-requests.ts';

/** What master and entry depot have together to answer; the user's download waits for nothing meanwhile. */
const DECISION_MS = 3_000;
const WEB_URLS = ['http://*/*', 'https://*/*'];

const addonId = api.runtime.id;
const settings = new SettingsStore(api.storage.local);
const jobs = new JobStore(api.storage.session);
const requests = new RecentRequests(api.storage.session);
const lastLeft = new LastLeft(api.storage.session);
const follower = new JobFollower({ downloads, jobs });
const deadline = (): AbortSignal => AbortSignal.timeout(DECISION_MS);

const takeDependencies: TakeDependencies = {
  addonId,
  downloads,
  jobs,
  follower,
  requests,
  askMaster,
  probeDepot,
  deadline,
  settings: () => settings.get(),
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

async function catchDownload(item: Parameters<typeof toDownload>[0]): Promise<void> {
  const caught = toDownload(item);
  await lastLeft.note(caught.name, await takeDownload(caught, takeDependencies));
}

// Firefox has no such event, and knows the name when a download is created; Chromium only here.
const onDeterminingFilename: typeof api.downloads.onDeterminingFilename | undefined =
  api.downloads.onDeterminingFilename;
if (onDeterminingFilename) {
  onDeterminingFilename.addListener((item, suggest) => {
    void catchDownload(item);
    return suggestName(item, suggest, addonId, jobs);
  });
} else {
  api.downloads.onCreated.addListener((item) => void catchDownload(item));
}

api.downloads.onChanged.addListener(({ id }) => void follower.follow(id));
api.downloads.onErased.addListener((id) => void follower.follow(id));

api.webRequest.onBeforeRequest.addListener(
  (details) => {
    void requests.note(details.url, details.method, pageOfRequest(details));
    return undefined;
  },
  { urls: WEB_URLS, types: ['main_frame', 'sub_frame'] },
);

answerMessages({
  status: ({ tabUrl }) => readStatus(tabUrl, { settings, jobs, downloads, lastLeft }),
  settings: () => settings.get(),
  'change-settings': (patch) => settings.change(patch),
  'set-site-off': async ({ host, off }) => {
    await settings.setSiteOff(host, off);
    return null;
  },
  'test-master': ({ master }) => testMaster(master, deadline()),
});

void recoverJobs({ downloads, jobs, follower });
