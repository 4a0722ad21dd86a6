import type { Authority } from '@longhaul/shared';
import type { EntryGroupConfig } from '../config.ts';

/** What is known of a depot that may be in a group. */
interface Member {
  readonly id: string;
  readonly state: string;
  readonly tls: boolean;
  /** The group whose tickets it serves, as it says. */
  readonly entryGroup: string | undefined;
}

/** Depots that clients reach by one name, whichever of them answers. */
export class EntryGroups {
  readonly #groups: readonly EntryGroupConfig[];

  constructor(groups: readonly EntryGroupConfig[]) {
    this.#groups = groups;
  }

  /**
   * The group that clients of an entry depot are led to; nothing until the depot says, too, that it is in it, or where
   * only one of both has TLS.
   */
  of(entry: Member | undefined): EntryGroupConfig | undefined {
    const group = entry && this.with(entry.id);
    return group?.id === entry?.entryGroup && group?.tls === entry?.tls ? group : undefined;
  }

  /** The group that the operator has put a depot into. */
  with(depot: string): EntryGroupConfig | undefined {
    return this.#groups.find(({ depots }) => depots.includes(depot));
  }

  /** Whether the operator has put a depot into a group. */
  has(group: string, depot: string): boolean {
    return this.with(depot)?.id === group;
  }

  /** Where the groups are, by name: no download leads there. */
  get places(): Authority[] {
    return this.#groups.map(({ host, port }) => ({ host, port }));
  }
}
