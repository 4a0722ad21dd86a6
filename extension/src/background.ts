/**
 * The background: builds its parts and registers every listener at once, so that an event which wakes it finds its
 * listener. What must outlive it is in the browser's storage.
 */
import { askMaster, isHealthyMaster } from './ask/ask-master.ts';
import { greetDepot, probeFile } from './ask/probe-file.ts';
import { testMaster } from './ask/test-master.ts';
import { api } from './browser/browser-api.ts';
import { browserDiversions, leaveFailedPage, lookAgain } from './browser/diversions.ts';
import { type Download, toDownload } from './browser/download.ts';
import { browserDownloads as downloads } from './browser/downloads.ts';
import { hasAccess } from './browser/has-access.ts';
import { watchClicks } from './browser/page-script.ts';
import { watchRequests } from './browser/requests.ts';
import { browserRoutes as routes } from './browser/routes.ts';
import { WakeUps } from './browser/wake-ups.ts';
import { AdoptDownloads } from './divert/adopt-download.ts';
import { Divert, isOn } from './divert/divert.ts';
import { divertAnswer } from './divert/divert-answer.ts';
import { MasterHealth } from './divert/master-health.ts';
import { Rescue } from './divert/rescue.ts';
import { JobKeeper } from './jobs/job-keeper.ts';
import { JobStore } from './jobs/job-store.ts';
import type { Outcome } from './judge/why-left.ts';
import { answerMessages } from './messages/answer-messages.ts';
import { readStatus } from './messages/read-status.ts';
import { readRulesFile, writeRulesFile } from './settings/rules-file.ts';
import type { Settings } from './settings/settings.ts';
import { SettingsStore } from './settings/settings-store.ts';
import { LastLeft } from './take/last-left.ts';
import { type TakeDependencies, takeDownload } from './take/take-download.ts';
import { HeldKeys } from './watch/held-keys.ts';
import { SeenAnswers } from './watch/seen-answers.ts';
import { BesideWay } from './ways/beside-way.ts';
import { DownloadsFolder } from './ways/downloads-folder.ts';
import { LedWay } from './ways/led-way.ts';
import { NameQuestions } from './ways/name-questions.ts';
import { recoverJobs } from './ways/recover-jobs.ts';
import type { Way } from './ways/way.ts';

/** What master and entry depot have together to answer; the user's download waits for nothing meanwhile. */
const DECISION_MS = 3_000;

const addonId = api.runtime.id;
const now = Date.now;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const deadline = (): AbortSignal => AbortSignal.timeout(DECISION_MS);

const settingsStore = new SettingsStore(api.storage.local, (changed) => void keepInStep(changed));
const settings = () => settingsStore.get();
const jobs = new JobStore(api.storage.local);
const lastLeft = new LastLeft(api.storage.session);
const answers = new SeenAnswers(pause);
const heldKeys = new HeldKeys(now);

const health = new MasterHealth({ area: api.storage.session, isHealthy: isHealthyMaster, deadline });
const rescue = new Rescue({
  master: async () => {
    const set = await settings();
    return isOn(set) ? set.master : '';
  },
  masterIsDown: () => divert.masterIsDown(),
  downloadInstead: async (url, failed) => {
    await downloads.start({ url, name: '' });
    await leaveFailedPage(failed);
  },
});
watchRequests({
  asked: (event) => {
    answers.asked(event);
    void rescue.asked(event);
  },
  answered: (event) => {
    answers.answered(event);
    void rescue.answered(event);
  },
  failed: (event) => {
    answers.failed(event);
    void rescue.failed(event);
  },
});

// Firefox has no such event, and knows the name when a download is created; Chromium only here.
const nameEvent: typeof api.downloads.onDeterminingFilename | undefined = api.downloads.onDeterminingFilename;
const names = new NameQuestions({ addonId, downloads, jobs, pause });
const folder = new DownloadsFolder({ downloads, area: api.storage.local, now });

const way: Way = nameEvent
  ? new BesideWay({
      addonId,
      downloads,
      jobs,
      names,
      settings,
      askMaster,
      probeFile,
      deadline,
      now,
      pause,
    })
  : new LedWay({
      addonId,
      downloads,
      jobs,
      routes,
      answers,
      settings,
      askMaster,
      probeFile,
      deadline,
      now,
      pause,
    });

const wakeUps = new WakeUps(() => void keeper.look());
const keeper = new JobKeeper({
  downloads,
  jobs,
  continuation: way,
  now,
  wakeAt: (timeMs) => wakeUps.at(timeMs),
});

const takeDependencies: TakeDependencies = {
  addonId,
  now,
  downloads,
  keeper,
  way,
  settings,
  answers,
  heldKeys,
  isUsualPlace: (download) => (nameEvent ? names.isUnprompted(download.id) : folder.is(download.folder)),
  hasAccess,
  askMaster,
  probeFile,
  greetDepot,
  deadline,
};

const adoption = new AdoptDownloads({ ...takeDependencies, jobs, way });
const divert: Divert = new Divert({
  settings,
  health,
  diversions: browserDiversions(async (held) => {
    const order = await divertAnswer(held, takeDependencies);
    await noteMaster(order);
    if (!order || !('plan' in order)) return undefined;
    adoption.expect(order);
    rescue.led(held.requestId, order.originUrl);
    return order.plan.location;
  }),
  keepLooking: lookAgain(() => void divert.look()),
});

/** Nothing more is led to a master that does not answer. */
async function noteMaster(outcome: Outcome | object | undefined): Promise<void> {
  const why = typeof outcome === 'object' && 'why' in outcome ? outcome.why : undefined;
  if (why === 'master-silent') await divert.masterIsDown();
}

/** What the browser itself keeps follows the settings. */
async function keepInStep({ bypassKey }: Settings): Promise<void> {
  await Promise.all([watchClicks(bypassKey !== 'none'), divert.look()]);
}

async function catchDownload(caught: Download): Promise<void> {
  const outcome = (await adoption.adopts(caught)) ? 'taken' : await takeDownload(caught, takeDependencies);
  await noteMaster(outcome);
  await lastLeft.note(caught.name, outcome);
}

if (nameEvent) {
  nameEvent.addListener((item, suggest) => {
    void catchDownload(toDownload(item));
    return names.ask(item, suggest);
  });
} else {
  api.downloads.onCreated.addListener((item) => void catchDownload(toDownload(item)));
}

api.downloads.onChanged.addListener(({ id, filename }) => {
  if (filename?.current) names.named(id);
  void keeper.follow(id);
});
api.downloads.onErased.addListener((id) => void keeper.follow(id));
globalThis.addEventListener('online', () => void keeper.look(true));

answerMessages({
  status: ({ tabUrl }) => readStatus(tabUrl, { settings: settingsStore, jobs, downloads, lastLeft }),
  settings,
  'change-settings': (patch) => settingsStore.change(patch),
  'set-site-off': async ({ host, off }) => {
    await settingsStore.setSiteOff(host, off);
    return null;
  },
  'set-site': async ({ host, use }) => {
    await settingsStore.setSite(host, use);
    return null;
  },
  'settings-problem': async () => (await settingsStore.read()).problem ?? null,
  'export-rules': async () => writeRulesFile(await settings()),
  'import-rules': async ({ text }) => {
    const reply = readRulesFile(text);
    if (reply.ok) await settingsStore.change(reply.rules);
    return reply;
  },
  clicked: async ({ keys }, from) => {
    heldKeys.clicked(from, keys);
    return null;
  },
  'go-on': ({ key }) => keeper.goOn(key),
  'clear-ended': async () => {
    await jobs.removeEnded();
    return null;
  },
  'test-master': ({ master }) => testMaster(master, deadline()),
});

void settings().then(keepInStep);
void recoverJobs({ jobs, way, keeper });
