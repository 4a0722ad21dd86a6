import type { Download } from '../browser/download.ts';
import type { Job } from './job.ts';
import type { standstillLooks } from './standstill.ts';

/** How an interrupted job can go on in this browser. */
export interface Continuation {
  /** Left out where another way costs bytes. */
  readonly standstill?: typeof standstillLooks & {
    /** Nothing has come to a running download for so long when it is asked why. */
    readonly afterMs: number;
    /**
     * Leads it to another way where its entry depot is gone. Gives what changes in the job; `undefined` where
     * the depot is there, which repairs what is behind it itself, or nothing could be done.
     */
    readonly leaveGone: (job: Job, download: Download) => Promise<Partial<Job> | undefined>;
  };
  /**
   * Tries once. What comes of it shows in the download; the answer says why nothing could be tried. One that
   * is complete is not the file: it goes as soon as the file is there again, and stays where the site has
   * that now.
   */
  goOn(job: Job, download: Download): Promise<GoOn>;
  /**
   * Looks once for a way that ends sooner than this slow one, which has so long to go; `undefined` when there
   * is none, `nobody` when neither a master nor the origin answers: then the user's own link is dead.
   */
  change(job: Job, download: Download, leftSeconds: number): Promise<Partial<Job> | 'nobody' | undefined>;
  /** Bytes come again after an interruption. */
  recovered(job: Job, download: Download): Promise<void>;
  /**
   * Leads a job elsewhere, as the user wants: to the origin itself, or over depots that are not in its chain.
   * What is on disk stands until then; `not-yet` where no such way has the file, or the user has done something
   * else with the download meanwhile: that holds.
   */
  lead(job: Job, download: Download, to: Lead): Promise<GoOn>;
  /** A job has ended, whole or not: whatever was set up for it goes. */
  release(job: Job): Promise<void>;
}

/** Where the user can lead a job. */
export type Lead = 'direct' | 'elsewhere';

export type GoOn =
  | { readonly result: 'tried' }
  /** Not now: a later attempt may. */
  | { readonly result: 'not-yet'; readonly problem: string }
  /** The browser wants a click of the user. */
  | { readonly result: 'click' }
  /** The job's download is another one now, as this patch says. */
  | { readonly result: 'moved'; readonly patch: Partial<Job> }
  /** There is nothing left to go on from, and no more attempts to start again. */
  | { readonly result: 'lost' };
