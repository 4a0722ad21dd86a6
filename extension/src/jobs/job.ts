/**
 * A download that the add-on has taken over. `starting`: the original is being replaced; `chain`: it comes through
 * depots; `direct`: the chain failed and it comes from the origin after all; `lost`: not even that could be started.
 */
export interface Job {
  readonly key: string;
  readonly state: 'starting' | 'chain' | 'direct' | 'lost';
  /** The browser's id of the original download. */
  readonly originalId: number;
  /** The browser's id of the download that replaces it, once there is one. */
  readonly downloadId: number | undefined;
  /** What the browser was asked to download last. */
  readonly url: string;
  readonly originUrl: string;
  readonly name: string;
  /** Depot ids, entry depot first. */
  readonly chain: readonly string[];
  readonly predictedSeconds: number;
  readonly directSeconds: number;
  /** Resumptions since bytes arrived last. */
  readonly resumes: number;
  /** Bytes that were there at the last resumption. */
  readonly resumedAtBytes: number;
}
