import type { Job } from '../jobs/job.ts';
import type { LeftDownload } from '../take/last-left.ts';

/** What the popup shows. */
export interface Status {
  readonly enabled: boolean;
  readonly hasMaster: boolean;
  /** Host of the active tab; empty when it is no web page. */
  readonly site: string;
  readonly siteOff: boolean;
  readonly running: readonly RunningDownload[];
  /** The last download that was left to the browser after it had been looked at. */
  readonly lastLeft: LeftDownload | undefined;
}

export interface RunningDownload
  extends Pick<Job, 'name' | 'way' | 'chain' | 'predictedSeconds' | 'directSeconds'> {
  readonly state: Job['state'] | 'paused';
  readonly originUrl: string;
  readonly bytesReceived: number;
  readonly totalBytes: number | undefined;
}
