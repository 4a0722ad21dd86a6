import { type LegEstimate, type LegShape, legShape } from '@longhaul/shared';
import { legOf, type Senders } from './chain-legs.ts';
import type { LinkEstimate } from './link-view.ts';

/** A leg that chains may have, with what depends on nothing but its link: it is worked out once, when the link changes. */
export class OverlayLeg {
  readonly link: LinkEstimate;
  readonly leg: LegEstimate;
  readonly rttSeconds: number;
  readonly #shapes: (LegShape | undefined)[] = [];

  constructor(link: LinkEstimate, nearOrigin: string, senders: Senders) {
    this.link = link;
    this.leg = legOf(link, nearOrigin, senders);
    this.rttSeconds = this.shape(1).rttSeconds;
  }

  /** What so many connections over it can do. */
  shape(lanes: number): LegShape {
    let shape = this.#shapes[lanes];
    if (shape === undefined) {
      shape = legShape(this.leg, lanes);
      this.#shapes[lanes] = shape;
    }
    return shape;
  }
}
