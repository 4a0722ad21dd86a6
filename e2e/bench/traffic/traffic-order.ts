/** How a flow reaches the source: itself, through a reverse or forward proxy, or through a CONNECT tunnel. */
export type Way =
  | { readonly kind: 'get' }
  | { readonly kind: 'proxy' }
  | { readonly kind: 'connect'; readonly authorization: string };

/** Flows that the sink shall open. */
export interface FlowOrder {
  /** Whom to connect to: a relay, or the source. */
  readonly host: string;
  readonly port: number;
  readonly way: Way;
  /** `host:port` of the source, as relays are asked for it. */
  readonly authority: string;
  readonly flows: number;
  readonly bodyBytes: number;
  /** The source falls silent after so many bytes; it sends the whole body when this is left out. */
  readonly firstBytes?: number;
}

/** What the sink is asked by its parent. */
export type SinkOrder =
  /** Take whole bodies; with `verify` every byte is compared, which costs far more. */
  | { readonly kind: 'take'; readonly order: FlowOrder; readonly verify: boolean }
  /**
   * Take at least `takeBytes` of every body and keep all connections open. Where the source falls silent, take what
   * comes until then; else read no more.
   */
  | { readonly kind: 'hold'; readonly order: FlowOrder; readonly takeBytes: number }
  /** Close what is held. */
  | { readonly kind: 'release' };

/** What came of it. */
export interface SinkReport {
  /** From before the first connection until the last byte of the last flow. */
  readonly seconds: number;
  /** Of bodies. */
  readonly receivedBytes: number;
  /** Why some flow failed, one sentence; then the order as a whole has failed. */
  readonly error?: string;
}
