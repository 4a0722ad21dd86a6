/**
 * The background: builds its parts and registers every listener at once, so that an event which wakes it finds its
 * listener. What must outlive it is in the browser's storage.
 */

import { askMaster } from './ask/ask-master.ts';
import { probeDepot } from './ask/probe-depot.ts';
import { api } from './browser/browser-api.ts';
import { toDownload } from './browser/download.ts';
import { browserDownloads as downloads } from './browser/downloads.ts';
import { watchRequests } from './browser/requests.ts';
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
import { SeenAnswers } from './watch/seen-answers.ts';

/** What master and entry depot have together to answer; the user's download waits for nothing meanwhile. */
const DECISION_MS = 3_000;

const addonId = api.runtime.id;
const settings = new SettingsStore(api.storage.local);
const jobs = new JobStore(api.storage.session);
const answers = new SeenAnswers((ms) => new Promise((resolve) => setTimeout(resolve, ms)));
const lastLeft = new LastLeft(api.storage.session);
const follower = new JobFollower({ downloads, jobs });
const deadline = (): AbortSignal => AbortSignal.timeout(DECISION_MS);

const takeDependencies: TakeDependencies = {
  addonId,
  now: Date.now,
  downloads,
  jobs,
  follower,
  answers,
  askMaster,
  probeDepot,
  deadline,
  settings: () => settings.get(),
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

watchRequests(answers);

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
