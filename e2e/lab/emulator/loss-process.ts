import type { LossModel } from './link-settings.ts';

/** Decides for one packet after another whether the link loses it. */
export class LossProcess {
  #model: LossModel;
  /** Only for bursts; every process starts in the good state. */
  #isBad = false;

  constructor(model: LossModel) {
    this.#model = model;
  }

  /** A new model of the same kind goes on in the state the old one was in. */
  change(model: LossModel): void {
    if (model.kind !== this.#model.kind) this.#isBad = false;
    this.#model = model;
  }

  startAnew(): void {
    this.#isBad = false;
  }

  /**
   * Takes one step. Both draws, from 0 to below 1, are wanted for each packet under every model, so that a change of
   * model never shifts what the stream gives to later packets.
   */
  losesNext(stepDraw: number, lossDraw: number): boolean {
    const model = this.#model;
    switch (model.kind) {
      case 'none':
        return false;
      case 'independent':
        return lossDraw < model.rate;
      case 'gilbert-elliott':
        if (stepDraw < (this.#isBad ? model.toGood : model.toBad)) this.#isBad = !this.#isBad;
        return lossDraw < (this.#isBad ? model.lossInBad : model.lossInGood);
    }
  }
}

/**
 * Standard deviation of how many of `packets` a model loses. Losses of a Gilbert-Elliott process come together: the
 * covariance at distance k is that of its two-state chain, (share bad)(share good)(difference of losses)^2 (1 - toBad -
 * toGood)^k, summed over all k.
 */
export function lossCountSigma(model: LossModel, packets: number): number {
  if (model.kind === 'none') return 0;
  if (model.kind === 'independent') return Math.sqrt(packets * model.rate * (1 - model.rate));
  const { toBad, toGood, lossInGood, lossInBad } = model;
  // A chain that never moves stays where it starts, in the good state.
  const bad = toBad === 0 ? 0 : toBad / (toBad + toGood);
  const rate = bad * lossInBad + (1 - bad) * lossInGood;
  const memory = 1 - toBad - toGood;
  const together = bad === 0 ? 0 : (bad * (1 - bad) * (lossInBad - lossInGood) ** 2 * memory) / (1 - memory);
  return Math.sqrt(packets * (rate * (1 - rate) + 2 * together));
}
