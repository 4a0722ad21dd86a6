/**
 * The background: builds its parts and registers every listener at once, so that an event which wakes it finds its
 * listener. What must outlive it is in the browser's storage.
 */
import { askLegs } from './ask/ask-legs.ts';
import { askMaster, isHealthyMaster } from './ask/ask-master.ts';
import { offeredName } from './ask/offered-name.ts';
import { greetDepot, probeFile, whoIsAt } from './ask/probe-file.ts';
import { tellMaster } from './ask/tell-master.ts';
import { testMaster } from './ask/test-master.ts';
import { api, type DownloadItem, type Suggest } from './browser/browser-api.ts';
import { holdAnswers, leaveFailedPage, lookAgain, putRules } from './browser/diversions.ts';
import { type Download, toDownload } from './browser/download.ts';
import { browserDownloads as downloads } from './browser/downloads.ts';
import { hasAccess } from './browser/has-access.ts';
import { browserLeadRules as leadRules } from './browser/lead-rules.ts';
import { onMenu, putMenus } from './browser/menus.ts';
import { hideInstallation } from './browser/own-origin.ts';
import { watchClicks } from './browser/page-script.ts';
import { watchRedirects, watchRequests } from './browser/requests.ts';
import { browserSign as sign } from './browser/sign.ts';
import { isChromium } from './browser/target.ts';
import { WakeUps } from './browser/wake-ups.ts';
import { ConsentStore } from './consent/consent-store.ts';
import { AdoptDownloads } from './divert/adopt-download.ts';
import { Divert, isOn } from './divert/divert.ts';
import { divertAnswer } from './divert/divert-answer.ts';
import { linkRules } from './divert/link-rules.ts';
import { MasterHealth } from './divert/master-health.ts';
import { isAtDepot, Rescue } from './divert/rescue.ts';
import { HistoryStore } from './history/history-store.ts';
import { JobKeeper } from './jobs/job-keeper.ts';
import { JobStore } from './jobs/job-store.ts';
import { OWN_DEPOT_MS } from './jobs/retry-times.ts';
import type { Outcome } from './judge/why-left.ts';
import {
  downloadDirectly,
  downloadLink,
  type LinkDependencies,
  leaveContained,
} from './menus/download-link.ts';
import { answerMessages } from './messages/answer-messages.ts';
import { readLegs } from './messages/read-legs.ts';
import { readStatus } from './messages/read-status.ts';
import { justDone } from './news/news-of.ts';
import { showBadge, tellNews } from './news/tell-news.ts';
import { Reports } from './reports/reports.ts';
import { buildDefaults } from './settings/build-defaults.ts';
import { readRulesFile, writeRulesFile } from './settings/rules-file.ts';
import type { Settings } from './settings/settings.ts';
import { SettingsStore } from './settings/settings-store.ts';
import { LastLeft } from './take/last-left.ts';
import { type TakeDependencies, takeDownload } from './take/take-download.ts';
import { say } from './texts/say.ts';
import { startTunnels } from './tunnel/start-tunnels.ts';
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
if (!isChromium) void hideInstallation();
const now = Date.now;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const deadline = (): AbortSignal => AbortSignal.timeout(buildDefaults.decisionMs ?? DECISION_MS);

const settingsStore = new SettingsStore(api.storage.local, () => void keepInStep());
const settings = () => settingsStore.get();
const consent = new ConsentStore(api.storage.local);
const history = new HistoryStore(api.storage.local);
const jobs = new JobStore(api.storage.local, (before, after) => {
  void tellNews(before, after, sign);
  for (const job of justDone(before, after)) {
    void history.add(job);
    void reports.jobDone(job);
  }
});
/** Whoever has not said yes has the add-on switched off. */
const takeSettings = async (): Promise<Settings> => {
  const set = await settings();
  return { ...set, enabled: set.enabled && (await consent.isGiven()) };
};
const reports = new Reports({
  area: api.storage.session,
  downloads,
  settings: takeSettings,
  tellMaster,
  deadline,
  now,
  // No look keeps Firefox's background awake: each would come late.
  ...(isChromium ? { wakeAt: (timeMs: number) => wakeAt(timeMs) } : {}),
});

const lastLeft = new LastLeft(api.storage.session);
const answers = new SeenAnswers(pause);
const heldKeys = new HeldKeys(now);

const health = new MasterHealth({
  area: api.storage.session,
  isHealthy: isHealthyMaster,
  whoIsAt,
  deadline,
  now,
});
const depotIsSilent = (location: string): Promise<void> => divert.depotIsSilent(location);
const rescue = new Rescue({
  master: async () => {
    const set = await takeSettings();
    return isOn(set) ? set.master : '';
  },
  masterIsDown: () => divert.masterIsDown(),
  depotIsSilent,
  downloadInstead: async (start, failed) => {
    await downloads.start(start);
    await leaveFailedPage(failed);
  },
});
const {
  tunnels,
  mend,
  look: lookAtTunnels,
} = startTunnels({ downloads, settings: takeSettings, now, pause, wakeAt: (timeMs) => wakeAt(timeMs) });
watchRequests({
  asked: (event) => {
    answers.asked(event);
    void rescue.asked(event);
    // A worker that was just woken does not know yet which other requests to watch.
    if (isChromium) void tunnels.prepare(event.url);
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
watchRedirects((event) => answers.redirected(event));

// Firefox knows the name when a download is created; Chromium does not, but lets an add-on name its own.
const names = isChromium ? new NameQuestions({ addonId, downloads, jobs, listen, pause }) : undefined;
const folder = isChromium
  ? undefined
  : new DownloadsFolder({
      downloads,
      area: api.storage.local,
      session: api.storage.session,
      now,
    });

const way: Way = isChromium
  ? new BesideWay({
      addonId,
      downloads,
      jobs,
      // Chromium has them.
      names: names as NameQuestions,
      settings: takeSettings,
      askMaster,
      probeFile,
      deadline,
      ownDepotMs: buildDefaults.ownDepotMs ?? OWN_DEPOT_MS,
      now,
      pause,
    })
  : new LedWay({
      addonId,
      downloads,
      jobs,
      leadRules,
      answers,
      settings: takeSettings,
      askMaster,
      probeFile,
      whoIsAt,
      deadline,
      now,
      pause,
    });

const wakeUps = new WakeUps(() => {
  void keeper.look();
  void tunnels.wake();
  void reports.look();
});
const wakeAt = (timeMs: number): void => wakeUps.at(timeMs);
const keeper = new JobKeeper({
  downloads,
  jobs,
  continuation: way,
  now,
  wakeAt,
});

const takeDependencies: TakeDependencies = {
  addonId,
  now,
  downloads,
  keeper,
  way,
  settings: takeSettings,
  answers,
  heldKeys,
  isUsualPlace: async (download) =>
    (await (names ? names.isUnprompted(download.id) : folder?.is(download.folder))) ?? false,
  hasAccess,
  askMaster,
  probeFile,
  greetDepot,
  deadline,
  plannedDirect: (...planned) => reports.plannedDirect(...planned),
  depotIsSilent,
};

const adoption = new AdoptDownloads({ ...takeDependencies, jobs, way });
const divert: Divert = new Divert({
  settings: takeSettings,
  health,
  divertBy: isChromium
    ? (isOn, set) => putRules(isOn ? linkRules(set) : [])
    : holdAnswers(async (held) => {
        const seen = answers.toAnswer(held);
        const order = await divertAnswer(held, seen, takeDependencies);
        await noteMaster(order);
        if (!order || !('plan' in order)) return undefined;
        adoption.expect(order);
        rescue.led(held.requestId, order.originUrl, offeredName(seen.headers));
        return order.plan.location;
      }, isAtDepot),
  keepLooking: lookAgain(() => void divert.look()),
});

/** Nothing more is led to a master that does not answer. */
async function noteMaster(outcome: Outcome | object | undefined): Promise<void> {
  const why = typeof outcome === 'object' && 'why' in outcome ? outcome.why : undefined;
  if (why === 'master-silent') await divert.masterIsDown();
}

/** What the browser itself keeps follows the settings. */
async function keepInStep(): Promise<void> {
  const { enabled, bypassKey } = await takeSettings();
  await Promise.all([
    watchClicks(enabled && bypassKey !== 'none'),
    divert.look(),
    lookAtTunnels(),
    isChromium || way.keepInStep?.(),
  ]);
}

function askName(item: DownloadItem, suggest: Suggest): boolean {
  return names?.ask(item, suggest) ?? false;
}

function listen(isOn: boolean): void {
  api.downloads.onDeterminingFilename[isOn ? 'addListener' : 'removeListener'](askName);
}

async function catchDownload(created: Download): Promise<void> {
  const caught = names ? await names.created(created) : created;
  if (!caught) return;
  const outcome = (await adoption.adopts(caught)) ? 'taken' : await takeDownload(caught, takeDependencies);
  await noteMaster(outcome);
  await lastLeft.note(caught.name, outcome);
}

api.downloads.onCreated.addListener((item) => void catchDownload(toDownload(item)));
api.downloads.onChanged.addListener(({ id, filename }) => {
  if (filename?.current) names?.named(id);
  void keeper.follow(id);
  void downloads.get(id).then((download) => reports.follow(download));
  void mend.follow(id);
});
api.permissions.onAdded.addListener(() => void keepInStep());
api.permissions.onRemoved.addListener(() => void keepInStep());
api.downloads.onErased.addListener((id) => void keeper.erased(id));

const linkDependencies: LinkDependencies = {
  downloads,
  way,
  settings,
  lastLeft,
  askMaster,
  probeFile,
  deadline,
};

onMenu((id, url, page, isContained) => {
  if (!isChromium && isContained) void leaveContained(url, lastLeft);
  else if (id === 'directly') void downloadDirectly(url, page, linkDependencies);
  else void downloadChosen(url, page);
});

/** Who has not been told what the add-on does is told before anybody else learns of a download. */
async function downloadChosen(url: string, page: string): Promise<void> {
  if (await consent.isGiven()) await downloadLink(url, page, linkDependencies);
  else await showWelcome();
}

async function showWelcome(): Promise<void> {
  await api.tabs.create({ url: api.runtime.getURL('welcome.html') });
}

function putOwnMenus(): void {
  void putMenus([
    { id: 'through', title: say('menuThrough') },
    { id: 'directly', title: say('menuDirectly') },
  ]);
}

api.runtime.onInstalled.addListener(({ reason }) => {
  putOwnMenus();
  if (reason === 'install') void consent.isGiven().then((isGiven) => (isGiven ? undefined : showWelcome()));
});
// The browser may speak another language since.
api.runtime.onStartup.addListener(putOwnMenus);

globalThis.addEventListener('online', () => {
  void keeper.tryAll();
  void tunnels.rest();
  void divert.rest();
});

answerMessages({
  status: ({ tabUrl }) =>
    readStatus(tabUrl, { settings: settingsStore, consent, jobs, downloads, lastLeft, tunnels }),
  settings,
  'change-settings': (patch) => settingsStore.change(patch),
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
  consent: async () => {
    await consent.give();
    await keepInStep();
    return null;
  },
  'go-on': ({ key }) => keeper.goOn(key),
  lead: ({ key, to }) => keeper.lead(key, to),
  legs: ({ key }) => readLegs(key, { jobs, downloads, settings: takeSettings, askLegs, deadline }),
  history: () => history.get(),
  'erase-history': async () => {
    await history.erase();
    await jobs.removeEnded();
    return null;
  },
  'clear-ended': async () => {
    await jobs.removeEnded();
    return null;
  },
  'test-master': ({ master }) => testMaster(master, deadline(), hasAccess),
});

void keepInStep();
void recoverJobs({ downloads, jobs, way, keeper, pause });
void jobs.all().then((all) => showBadge(all, sign));
