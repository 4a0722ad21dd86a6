import { type LegEstimate, type LegShape, legShape } from '@longhaul/shared';
import { type LegDoubt, NO_DOUBT, SCENARIOS, scenariosOf } from '../links/leg-scenarios.ts';
import type { LinkEstimate } from '../links/link-view.ts';
import { legOf, type Senders } from './chain-legs.ts';

/**
 * A leg that chains may have, with what depends on nothing but its link: it is worked out once, when the link
 * changes.
 */
export class OverlayLeg {
  readonly link: LinkEstimate;
  readonly leg: LegEstimate;
  readonly rttSeconds: number;
  /** The two ends, by which its scenarios are drawn. */
  readonly #name: string;
  readonly #doubt: () => LegDoubt;
  #shapes: (LegShape | undefined)[] | undefined;
  /** `null` before anybody has asked. */
  #scenarioLegs: readonly LegEstimate[] | undefined | null = null;
  #scenarios: (readonly LegShape[] | undefined)[] | undefined;

  constructor(
    link: LinkEstimate,
    [nearClient, nearOrigin]: readonly [string, string],
    senders: Senders,
    doubt = () => NO_DOUBT,
  ) {
    this.link = link;
    this.leg = legOf(link, nearOrigin, senders);
    this.#name = `${nearClient} ${nearOrigin}`;
    this.#doubt = doubt;
    this.rttSeconds = this.shape(1).rttSeconds;
  }

  /** What so many connections over it can do. */
  shape(lanes: number): LegShape {
    this.#shapes ??= [];
    let shape = this.#shapes[lanes];
    if (shape === undefined) {
      shape = legShape(this.leg, lanes);
      this.#shapes[lanes] = shape;
    }
    return shape;
  }

  /** Whether it may be otherwise than its link says. */
  get isInDoubt(): boolean {
    return this.scenarioLegs() !== undefined;
  }

  /** How the leg is in each of the scenarios; `undefined` where there is no doubt of it. */
  scenarioLegs(): readonly LegEstimate[] | undefined {
    if (this.#scenarioLegs === null) {
      const doubt = this.#doubt();
      const isSure = doubt.rtt === 0 && doubt.loss === 0 && doubt.rate === 0;
      this.#scenarioLegs = isSure ? undefined : scenariosOf(this.leg, doubt, this.#name);
    }
    return this.#scenarioLegs;
  }

  /** The same in each of the scenarios of how it may really be, all as likely. */
  scenarios(lanes: number): readonly LegShape[] {
    this.#scenarios ??= [];
    let shapes = this.#scenarios[lanes];
    if (shapes === undefined) {
      const legs = this.scenarioLegs();
      shapes = legs ? legs.map((leg) => legShape(leg, lanes)) : SCENARIOS.map(() => this.shape(lanes));
      this.#scenarios[lanes] = shapes;
    }
    return shapes;
  }
}
