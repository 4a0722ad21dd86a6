import type { DepotState } from '../depots/depot-registry.ts';

/** `GET /v1/status`: what the page shows of this master. */
export interface MasterStatus {
  /** The operator's sentence; `null` when there is none. */
  readonly note: string | null;
  readonly depots: readonly { readonly id: string; readonly state: DepotState }[];
  readonly version: string;
}
