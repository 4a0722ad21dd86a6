import type { CrossTraffic, Flapping, Topology } from './network/topology.ts';

/** What depots are told about lanes that is not their default; `spread`: over all of the plan's chains. */
export type LaneSetup = 'coupled' | 'plain' | 'coupled-spread' | 'plain-spread';

/** How a depot ends: its connections closed in order, by resets, or without a word from its host. */
export type FaultKind = 'fin' | 'rst' | 'silence';

/** Which depot of the chain it is: the client's, the one between, the origin's. */
export type FaultPosition = 'first' | 'middle' | 'last';

/** A depot that breaks while a file passes. */
export interface Fault {
  readonly kind: FaultKind;
  readonly position: FaultPosition;
  /** When the client has this share of the file. */
  readonly atPercent: number;
}

/**
 * A rival that stands as a relay at every depot's site: HAProxy that passes bytes on, HAProxy as an HTTP
 * proxy that keeps its connections, or nginx, which keeps them as well.
 */
export type RivalRelay = 'haproxy' | 'haproxy-kept' | 'nginx';

/** One way to fetch a file. */
export type Variant =
  /** One connection from the client to the origin. */
  | { readonly kind: 'direct' }
  /** As many plain ranges at once, each over a connection of its own: to the origin, or through a rival's relays. */
  | { readonly kind: 'ranges'; readonly connections: number; readonly through?: RivalRelay }
  | { readonly kind: 'aria2'; readonly connections: number; readonly through?: RivalRelay }
  /** One connection through a rival's relays. */
  | { readonly kind: 'relays'; readonly through: RivalRelay }
  | ChainVariant
  | AutoVariant;

/** Through the master, by these depots: from the client on; led by cascade where nothing else is said. */
export interface ChainVariant {
  readonly kind: 'chain';
  readonly depots: readonly string[];
  readonly signalling?: 'stepwise';
  /** Parallel ways over the same chain; left out: one, without asking for lanes. */
  readonly lanes?: number;
  /** Fetched through depots of this configuration, which stand beside the others; left out: through the usual ones. */
  readonly laneSetup?: LaneSetup;
  readonly fault?: Fault;
}

/** Through the master, which plans; it is told the file's size, as the add-on does, unless it must guess. */
export interface AutoVariant {
  readonly kind: 'auto';
  readonly mustGuessSize?: boolean;
  /** Exactly so many, whatever the planner thinks of it. */
  readonly lanes?: number;
  /** As with chains by hand. */
  readonly laneSetup?: LaneSetup;
  readonly fault?: Fault;
}

/** One condition under which variants are compared. */
export interface Scenario {
  readonly id: string;
  /** A few words for tables and charts. */
  readonly label: string;
  /** Why it is there: what it shows that no other does. */
  readonly why?: string;
  readonly topology: Topology;
  readonly client: string;
  readonly origin: string;
  /** Sites of the depots, from the client on. */
  readonly depots: readonly string[];
  /** Site of the master; left out: the first depot's, where anycast would lead the client. */
  readonly master?: string;
  readonly sizeBytes: number;
  /** The master is told of no link: it knows what depots measure. */
  readonly isUntold?: boolean;
  /** Origin and depots speak TLS. */
  readonly tls?: boolean;
  readonly crossTraffic?: readonly CrossTraffic[];
  readonly flapping?: Flapping;
  /**
   * `cold`: depots keep no connections to each other ready. `warm`: they do, and one transfer goes before each that is
   * measured. Left out: as depots are by default, after whatever went before.
   */
  readonly start?: 'cold' | 'warm';
  readonly variants: Readonly<Record<string, Variant>>;
  /** Heading under which scenarios stand together in the report, for example one place of the paper. */
  readonly group?: string;
}

/** Whose relays a variant needs, if any. */
export function rivalOf(variant: Variant): RivalRelay | undefined {
  return 'through' in variant ? variant.through : undefined;
}

/** How many connections a client has at once. */
export function clientConnectionsOf(variant: Variant): number {
  return 'connections' in variant ? variant.connections : 1;
}

/** Where the master of a scenario runs. */
export function masterSite({ master, depots, client }: Scenario): string {
  return master ?? depots[0] ?? client;
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
  /** Further choices, by the names that `--set` takes; their parts have different repeats. */
  readonly sets?: Readonly<Record<string, readonly Extent[]>>;
  /** A transfer is ended after so many seconds; null: only when it takes longer than any of the lab's. */
  readonly cutSeconds: number | null;
  /** Transfers of every variant before the next scenario's turn comes; for scenarios that take long to set up. */
  readonly repeatsPerTurn: number;
}
