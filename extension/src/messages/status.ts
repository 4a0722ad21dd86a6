import type { Job } from '../jobs/job.ts';
import type { SiteUse } from '../settings/site-rules.ts';
import type { LeftDownload } from '../take/last-left.ts';
import type { TunnelView } from '../tunnel/tunnels.ts';

/** What the popup shows. */
export interface Status {
  /** Whether the user has said yes: until then nothing is led elsewhere. */
  readonly consented: boolean;
  readonly enabled: boolean;
  readonly hasMaster: boolean;
  /** Host of the active tab; empty when it is no web page. */
  readonly site: string;
  /** What the user wants of that site; `undefined`: what the other rules say. */
  readonly siteUse: SiteUse | undefined;
  /** How that site is reached now, where its requests are to go through a tunnel, and one was asked for. */
  readonly tunnel?: TunnelView;
  readonly running: readonly RunningDownload[];
  /** The last ones that ended, the newest first. */
  readonly done: readonly DoneDownload[];
  /** The last download that was left to the browser after it had been looked at. */
  readonly lastLeft: LeftDownload | undefined;
}

/** What happened to a download on its way. */
type HappenedKey = 'changes' | 'lastChange' | 'breaks' | 'restarts';

/** What is told of a download as long as it runs and when it is whole. */
type ToldKey = 'key' | 'name' | 'originUrl' | 'way' | 'predictedSeconds' | 'directSeconds' | HappenedKey;

export interface RunningDownload extends Pick<Job, ToldKey | 'legs' | 'choseDirect'> {
  /** `checked`: all its bytes are there, and the browser looks at them, or asks whether to keep the file. */
  readonly state: Job['state'] | 'paused' | 'checked';
  /** The browser's id of it; `undefined` while there is none. */
  readonly downloadId: number | undefined;
  readonly bytesReceived: number;
  readonly totalBytes: number | undefined;
  /** Attempts to go on since it was interrupted. */
  readonly tries: number;
  /** When it is tried again; `undefined` while it is not interrupted. */
  readonly nextTryAtMs: number | undefined;
  /** The browser's or a depot's word for what is wrong; empty when nothing is. */
  readonly problem: string;
}

/** A download that is whole. */
export interface DoneDownload extends Pick<Job, ToldKey | 'directSource' | 'wasPaused'> {
  /** The browser's id of it; `undefined` where that has none any more. */
  readonly downloadId: number | undefined;
  readonly bytes: number;
  readonly seconds: number;
}
