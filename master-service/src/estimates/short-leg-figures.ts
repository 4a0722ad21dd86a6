import type { Figure } from './figure.ts';
import type { LegFigures } from './leg-figures.ts';
import type { LossEvidence } from './loss-evidence.ts';

/** Digits of what others are told: a hundredth of a per cent is far less than one measurement differs from the next. */
const DIGITS = 5;
/** How sure a figure is nobody knows to a hundredth part. */
const DIGITS_OF_DOUBT = 3;

/**
 * The same figures with no more digits than matter: an overlay's masters tell each other of thousands of
 * links a second.
 */
export function shortLegFigures({ rtt, goodput, total, loss, ...more }: LegFigures): LegFigures {
  return {
    ...more,
    rtt: shortFigure(rtt),
    ...(goodput ? { goodput: shortFigure(goodput) } : {}),
    ...(total ? { total: shortFigure(total) } : {}),
    ...(loss ? { loss: shortLoss(loss) } : {}),
  };
}

function shortFigure({ value, scatter, weight, doubted, fellFrom, reached, ...more }: Figure): Figure {
  return {
    ...more,
    ...(doubted === undefined ? {} : { doubted: short(doubted) }),
    ...(fellFrom === undefined ? {} : { fellFrom: short(fellFrom) }),
    ...(reached === undefined ? {} : { reached: short(reached) }),
    value: short(value),
    scatter: short(scatter, DIGITS_OF_DOUBT),
    weight: short(weight, DIGITS_OF_DOUBT),
  };
}

function shortLoss({ sentBytes, lostBytes, ...more }: LossEvidence): LossEvidence {
  return { ...more, sentBytes: short(sentBytes), lostBytes: short(lostBytes) };
}

function short(value: number, digits = DIGITS): number {
  return Number(value.toPrecision(digits));
}
