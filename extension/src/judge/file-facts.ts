/** What tells one version of a file from another, as an answer's head says it. */
export interface FileFacts {
  readonly totalBytes: number | undefined;
  /** Validators as the origin gives them; empty when it gives none. */
  readonly etag: string;
  readonly lastModified: string;
  /** Media type without parameters, in lower case; empty when there is none. */
  readonly mime: string;
}

/** The facts in the head of an answer of 200, or of 206 to a request for a part. */
export function factsOf(status: number, headers: Headers): FileFacts {
  return {
    totalBytes: totalBytesOf(status, headers),
    etag: headers.get('etag')?.trim() ?? '',
    lastModified: headers.get('last-modified')?.trim() ?? '',
    mime: (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '',
  };
}

/** Whether there is more to compare than a length, which two files may share. */
export function isComparable({ etag, lastModified }: FileFacts): boolean {
  return etag !== '' || lastModified !== '';
}

/** Whether an entity tag names one version, byte for byte, so that a request can ask for exactly that. */
export function isStrongTag(etag: string): boolean {
  return /^"[\x21\x23-\x7e]*"$/.test(etag);
}

/**
 * Whether two answers are provably of one version of one file. Length and entity tag must agree; a date or a type that
 * one answer leaves out, as one with a part of the file may, is made up for by the entity tag.
 */
export function isSameFile(one: FileFacts, other: FileFacts): boolean {
  if (!isComparable(one) || one.totalBytes !== other.totalBytes || one.etag !== other.etag) return false;
  return (['lastModified', 'mime'] as const).every(
    (fact) => one[fact] === other[fact] || (one.etag !== '' && (one[fact] === '' || other[fact] === '')),
  );
}

/** How a file's version is asked for, as the browser names it; nothing where nobody has said one. */
export function versionIn({ etag, lastModified }: FileFacts): Readonly<Record<string, string>> {
  if (etag !== '') return { 'if-match': etag };
  return lastModified === '' ? {} : { 'if-unmodified-since': lastModified };
}

function totalBytesOf(status: number, headers: Headers): number | undefined {
  const text =
    status === 206
      ? /^bytes [0-9]+-[0-9]+\/([0-9]{1,15})$/.exec(headers.get('content-range') ?? '')?.[1]
      : headers.get('content-length');
  return /^[0-9]{1,15}$/.test(text ?? '') ? Number(text) : undefined;
}
