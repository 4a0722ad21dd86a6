/** The `Range` that asks for the bytes from `startByte` up to `endByte`, which is the first one left out. */
export function rangeOf({
  startByte,
  endByte,
}: {
  readonly startByte: number;
  readonly endByte: number;
}): string {
  return `bytes=${startByte}-${endByte - 1}`;
}

/**
 * The first byte that a `Range` asks for; `undefined` where it asks for several parts, for the last bytes, or is
 * none.
 */
export function firstByteOf(range: string | undefined): number | undefined {
  return numberIn(/^bytes=([0-9]+)-[0-9]*$/, range);
}

/**
 * From which byte on a `Range` asks for all of a file; `undefined` where it asks for something else, or from a
 * byte on that a number does not hold exactly.
 */
export function openEndedFrom(range: string): number | undefined {
  return numberIn(/^bytes=([0-9]{1,15})-$/, range);
}

function numberIn(form: RegExp, range: string | undefined): number | undefined {
  const digits = form.exec(range ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}
