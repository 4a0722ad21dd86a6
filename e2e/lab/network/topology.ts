import type { CongestionControl } from '@longhaul/shared';
import type { LossModel, QueueLimit } from '../emulator/link-settings.ts';

/** One host or router: a network namespace of its own. */
export interface Site {
  readonly role: 'client' | 'origin' | 'depot' | 'router' | 'traffic';
  /** Default for new connections of this site; where it is left out, what depots and what others usually send with. */
  readonly congestionControl?: CongestionControl;
  /** Largest receive buffer, the third value of `tcp_rmem`; the kernel offers about 0.6 of it as window. */
  readonly receiveBufferBytes?: number;
  /** How many addresses of its /24 it has, from its first on; 1 where it is left out. */
  readonly addresses?: number;
}

/** A link between two sites. Both directions are alike unless `backward` says otherwise. */
export interface EmulatedLink {
  readonly between: readonly [string, string];
  /** Of the link alone, without queueing; each direction delays half of it. */
  readonly rttMs: number;
  readonly rateBps: number;
  readonly queue: QueueLimit;
  /** Independent loss of each direction, or a model. */
  readonly loss?: number | LossModel;
  readonly jitterMs?: number;
  readonly backward?: Partial<Pick<EmulatedLink, 'rateBps' | 'queue' | 'loss' | 'jitterMs'>>;
}

/** A cable: no delay, no loss, no limit, no emulator. For hosts that stand beside a site. */
export interface Wire {
  readonly wire: readonly [string, string];
}

export interface Topology {
  readonly name: string;
  readonly sites: Readonly<Record<string, Site>>;
  readonly links: readonly (EmulatedLink | Wire)[];
}

/** Long TCP flows that go on as long as they are wanted, for example between two `traffic` sites. */
export interface CrossTraffic {
  readonly from: string;
  readonly to: string;
  readonly flows: number;
}

/** A link that goes down and comes back again and again, from the start of each transfer on. */
export interface Flapping {
  /** The two ends of the link. */
  readonly link: readonly [string, string];
  /** Until it goes down first, and from one time to the next. */
  readonly everyMs: number;
  readonly downMs: number;
}
