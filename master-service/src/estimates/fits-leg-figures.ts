/**
 * Whether a value has the form of `legFiguresSchema`: a quick look, where masters tell each other of many
 * thousands of links.
 */
export function fitsLegFigures(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { rtt, goodput, total, loss } = value;
  return (
    isFigure(rtt) &&
    (goodput === undefined || isFigure(goodput)) &&
    (total === undefined || isFigure(total)) &&
    (loss === undefined || isLossEvidence(loss))
  );
}

function isFigure(value: unknown): boolean {
  return (
    isObject(value) &&
    isAmount(value.value) &&
    value.value > 0 &&
    isAmount(value.scatter) &&
    isAmount(value.weight) &&
    value.weight > 0 &&
    isAmount(value.ageMs) &&
    isRateOrNone(value.doubted) &&
    isRateOrNone(value.fellFrom) &&
    isRateOrNone(value.reached)
  );
}

function isRateOrNone(value: unknown): boolean {
  return value === undefined || (isAmount(value) && value > 0);
}

function isLossEvidence(value: unknown): boolean {
  return isObject(value) && isAmount(value.sentBytes) && isAmount(value.lostBytes) && isAmount(value.ageMs);
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
