import type { Duplex } from 'node:stream';
import type { Authority } from '@longhaul/shared';
import type { LegSampler } from '../estimates/leg-sampler.ts';
import type { RunningLegs } from '../estimates/running-legs.ts';
import type { UplinkPacer } from '../fairness/uplink-pacer.ts';
import type { ChoosingRelay } from '../relay/relay-plane.ts';
import type { Observe } from './events.ts';

/** How long a depot waits for whom, milliseconds. */
export interface PlaneTimeouts {
  /** For a connection to stand. */
  readonly connectMs: number;
  /** For an origin's answer, once it has been reached. */
  readonly answerMs: number;
  /** For bytes of a sender that are wanted. */
  readonly silenceMs: number;
  /** For a receiver that leaves its bytes unread. */
  readonly stallMs: number;
}

/** What everything that moves bytes in a depot has in common; made once, and handed down. */
export interface DataPlane {
  readonly ownId: string;
  readonly relay: ChoosingRelay;
  /**
   * Has the close of a connection reset it, be it by this process's death, until the result is called. Left
   * out where no kernel is asked.
   */
  readonly resetOnClose?: ((stream: Duplex) => () => void) | undefined;
  readonly watch: LegSampler['watch'];
  /** The legs of what runs, by job. */
  readonly legs: RunningLegs;
  /** Where the depot has an uplink to share. */
  readonly joinUplink: UplinkPacer['join'] | undefined;
  readonly timeouts: PlaneTimeouts;
  /**
   * Takes note that a connection to an origin stands of which Node may have no socket any more, until the
   * result is called.
   */
  readonly originStands: (origin: Authority) => () => void;
  /** Has another depot looked after, whose connection has broken. */
  readonly suspect: (depot: string) => void;
  readonly observe: Observe;
  readonly nowMs: () => number;
  /** A clock that nobody sets: what is to be measured or waited for. */
  readonly steadyMs: () => number;
  /** Aborts with `shutting-down` when the depot gives up its running transfers. */
  readonly shutdown: AbortSignal;
}
