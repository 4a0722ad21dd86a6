import { fileNameOf, originHref } from '@longhaul/shared';
import type { Download } from '../browser/download.ts';
import type { JobKeeper } from '../jobs/job-keeper.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { drop } from '../jobs/own-download.ts';
import { factsOf, isSameFile } from '../judge/file-facts.ts';
import { isInsecure, leadsToDepot, relayedBy, whyUnfit } from '../judge/why-unfit.ts';
import { remember } from '../remember.ts';
import { reportsTo } from '../reports/reports.ts';
import type { Settings } from '../settings/settings.ts';
import type { TakeDependencies } from '../take/take-download.ts';
import { directStart } from '../ways/direct-start.ts';
import { newJob, type TakeOrder, type Way } from '../ways/way.ts';
import { isOn } from './divert.ts';

interface AdoptDependencies
  extends Pick<TakeDependencies, 'downloads' | 'settings' | 'answers' | 'askMaster' | 'deadline' | 'now'> {
  readonly jobs: JobStore;
  readonly keeper: Pick<JobKeeper, 'look'>;
  readonly way: Pick<Way, 'adopt'>;
}

/** Orders whose download is to come; it comes at once or not at all. */
const REMEMBERED_ORDERS = 50;

/** Downloads that began at a depot, because their requests were diverted, become jobs like those that were taken. */
export class AdoptDownloads {
  readonly #deps: AdoptDependencies;
  /** What is known of downloads to come, by the address that they were led to, as browsers write it. */
  readonly #orders = new Map<string, TakeOrder>();

  constructor(deps: AdoptDependencies) {
    this.#deps = deps;
  }

  /** A request is led to the depot of this order. */
  expect(order: TakeOrder): void {
    // The master names each depot's port; browsers leave out the one that its scheme has anyway.
    remember(this.#orders, new URL(order.plan.location).href, order, REMEMBERED_ORDERS);
  }

  /** Takes a download over that was led to a depot; false when it is none. */
  async adopts(caught: Download): Promise<boolean> {
    const { settings, answers } = this.#deps;
    const set = await settings();
    const origin = relayedBy(caught.finalUrl);
    // Of the add-on's own, Chromium says at first only where they go.
    const isOfAddon = caught.addonId !== undefined || caught.url.startsWith(`${set.master}/`);
    if (!isOn(set) || isOfAddon || !origin) return false;
    if (!leadsToDepot(caught.finalUrl, origin, set)) return false;
    const originUrl = originHref(origin);
    // A rule on addresses leads to the master, who alone knows the depots.
    if (isInsecure(origin, caught.finalUrl)) return this.#giveWay(caught, originUrl);
    const seen = await answers.answerTo(caught.finalUrl);
    const order = this.#orders.get(caught.finalUrl) ?? (await this.#orderFor(caught, originUrl, set));
    this.#orders.delete(caught.finalUrl);
    if (!seen || !order) return true;
    const file = factsOf(seen.status, seen.headers);
    // It has changed since the browser saw it: nothing was held back for the user but a moment.
    if (order.original.id !== caught.id && !isSameFile(order.file, file))
      return this.#giveWay(caught, order.originUrl);
    // While the user is still asked, the browser has no name for it.
    const original = { ...caught, name: caught.name || fileNameOf(origin) };
    await this.#remember(caught, { ...order, original, page: order.page || caught.referrer, file });
    return true;
  }

  /** The file is downloaded directly instead. */
  async #giveWay(caught: Download, originUrl: string): Promise<true> {
    const { downloads } = this.#deps;
    await drop(downloads, caught.id);
    await downloads.start(directStart(originUrl, caught.referrer, caught.name));
    return true;
  }

  /**
   * Where nobody judged it before, as behind a rule: the plan that the master gives the same client for the
   * same address. That is the one that the rule has judged, and no other of those that redirects began with.
   */
  async #orderFor(caught: Download, originUrl: string, set: Settings): Promise<TakeOrder | undefined> {
    const { askMaster, deadline } = this.#deps;
    const reply = await askMaster(set.master, { url: originUrl }, deadline());
    if (reply.result !== 'plan' || whyUnfit(reply.plan, originUrl, set)) return undefined;
    const file = factsOf(0, new Headers());
    const own = { inOnePiece: false, plan: reply.plan, reportsTo: reportsTo(set) };
    return { original: caught, originUrl, page: caught.referrer, file, ...own };
  }

  async #remember(caught: Download, order: TakeOrder): Promise<void> {
    const { jobs, way, keeper, now } = this.#deps;
    const own = { url: caught.url, downloadId: caught.id, state: 'running' } as const;
    const job = newJob(order, caught.startedAtMs ?? now(), own);
    try {
      await jobs.add(job);
      await way.adopt(job);
    } catch {
      // Nobody looks after it then, and it goes on as any other.
      await jobs.remove(job.key);
    }
    await keeper.look();
  }
}
