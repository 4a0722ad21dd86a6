import type { CrossTraffic, Topology } from '../network/topology.ts';

/** One way to fetch a file. */
export type Variant =
  /** One connection from the client to the origin. */
  | { readonly kind: 'direct' }
  /** As many plain ranges at once, each over a connection to the origin. */
  | { readonly kind: 'ranges'; readonly connections: number }
  | { readonly kind: 'aria2'; readonly connections: number }
  /** A rival as a relay at every depot's site. */
  | { readonly kind: 'relays'; readonly program: 'haproxy' | 'nginx' }
  /** Through the master, by these depots: from the client on; led by cascade where nothing else is said. */
  | { readonly kind: 'chain'; readonly depots: readonly string[]; readonly signalling?: 'stepwise' }
  /** Through the master, which plans; it is told the file's size, as the add-on does, unless it must guess. */
  | { readonly kind: 'auto'; readonly mustGuessSize?: boolean };

/** One condition under which variants are compared. */
export interface Scenario {
  readonly id: string;
  /** A few words for tables and charts. */
  readonly label: string;
  readonly topology: Topology;
  readonly client: string;
  readonly origin: string;
  /** Sites of the depots, from the client on; the master runs at the first, where anycast would lead the client. */
  readonly depots: readonly string[];
  readonly sizeBytes: number;
  /** Origin and depots speak TLS. */
  readonly tls?: boolean;
  readonly crossTraffic?: readonly CrossTraffic[];
  /**
   * `cold`: depots keep no connections to each other ready. `warm`: they do, and one transfer goes before each that is
   * measured. Left out: as depots are by default, after whatever went before.
   */
  readonly start?: 'cold' | 'warm';
  readonly variants: Readonly<Record<string, Variant>>;
  /** Heading under which scenarios stand together in the report, for example one place of the paper. */
  readonly group?: string;
}

/** How much of an experiment is run. */
export interface Extent {
  readonly repeats: number;
  /** Ids; left out: all. */
  readonly scenarios?: readonly string[];
  readonly variants?: readonly string[];
}

/** What is compared, under which conditions, how often. */
export interface Experiment {
  readonly name: string;
  readonly title: string;
  /** What a reader wants to know. */
  readonly question: string;
  readonly scenarios: readonly Scenario[];
  readonly full: Extent;
  readonly quick: Extent;
  /** A transfer is ended after so many seconds; null: never. */
  readonly cutSeconds: number | null;
  /** Transfers of every variant before the next scenario's turn comes; for scenarios that take long to set up. */
  readonly repeatsPerTurn: number;
}
