/**
 * The congestion controls that Longhaul knows. Everybody calls them by the names that Linux gives them: the planner's
 * configuration, the models, the lab. A depot may be told to use any other one that its kernel offers.
 *
 * What losses leave to a sender (its response function), p being the loss probability of a packet:
 *
 * - Reno: w = 1.31 / sqrt(p) segments (Mathis et al., CCR 27(3), 1997, for random loss, no delayed ACK)
 * - CUBIC: w = max(1.054 (R/p)^0.75, sqrt(1.5/p)), R in seconds (RFC 9438 section 5, C = 0.4, beta = 0.7)
 * - BBR version 1: the rate times 1 - p up to a loss of about 15 % (Cardwell et al., CACM 60(2), 2017)
 */
export const CONGESTION_CONTROLS = {
  reno: {
    response: {
      holds: 'window',
      segments: (p) => 1.31 / Math.sqrt(p),
      lossRate: (segments) => (1.31 / segments) ** 2,
    },
    isPaced: false,
  },
  cubic: {
    response: {
      holds: 'window',
      segments: (p, rttSeconds) => Math.max(Math.sqrt(1.5 / p), 1.054 * (rttSeconds / p) ** 0.75),
      lossRate: (segments, rttSeconds) =>
        Math.max(1.5 / segments ** 2, rttSeconds * (1.054 / segments) ** (1 / 0.75)),
    },
    isPaced: false,
  },
  bbr: { response: { holds: 'rate', share: (p) => 1 - p }, isPaced: true },
} as const satisfies Record<string, CongestionControlEntry>;

interface CongestionControlEntry {
  readonly response: LossResponse;
  /** Whether it sends at a rate, which something must space packets out for. */
  readonly isPaced: boolean;
}

/** What holds a sender back under losses. */
export type LossResponse =
  /** A window in segments, of each connection for itself. */
  | {
      readonly holds: 'window';
      readonly segments: (lossRate: number, rttSeconds: number) => number;
      /** The loss at which it has such a window. */
      readonly lossRate: (segments: number, rttSeconds: number) => number;
    }
  /** The line, whatever the number of connections: this share of its rate gets through. */
  | { readonly holds: 'rate'; readonly share: (lossRate: number) => number };

export type CongestionControl = keyof typeof CONGESTION_CONTROLS;

export const CONGESTION_CONTROL_NAMES = Object.keys(CONGESTION_CONTROLS) as readonly CongestionControl[];

/** Whether a name is one of a congestion control that Longhaul knows. */
export function isCongestionControl(name: string): name is CongestionControl {
  return Object.hasOwn(CONGESTION_CONTROLS, name);
}

/** What a depot sends with, to clients and to depots: lossy last miles and long hops, where a loss is no full line. */
export const DEPOT_CONGESTION_CONTROL: CongestionControl = 'bbr';
/** What everybody else sends with: Linux's default, and so almost every web server's. */
export const USUAL_CONGESTION_CONTROL: CongestionControl = 'cubic';
