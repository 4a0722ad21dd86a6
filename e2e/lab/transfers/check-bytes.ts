/** What stands in a client's file, compared byte for byte, which says more than a hash. */
export interface ByteCheck {
  readonly isRight: boolean;
  readonly error?: string;
}

/** Compares a file with what it has to be; of a file that was cut, only as far as it goes. */
export function checkBytes(file: Buffer, expected: Buffer, isCut: boolean): ByteCheck {
  if (file.length > expected.length) {
    return { isRight: false, error: `${file.length - expected.length} bytes too many arrived` };
  }
  const wrongAt = firstDifference(file, expected.subarray(0, file.length));
  if (wrongAt !== undefined) return { isRight: false, error: `byte ${wrongAt} is wrong` };
  if (!isCut && file.length < expected.length) {
    return { isRight: false, error: `only ${file.length} of ${expected.length} bytes arrived` };
  }
  return { isRight: true };
}

/** Where two buffers of the same length differ first. */
export function firstDifference(one: Buffer, other: Buffer): number | undefined {
  if (one.equals(other)) return undefined;
  const index = one.findIndex((byte, at) => byte !== other[at]);
  return index === -1 ? undefined : index;
}
