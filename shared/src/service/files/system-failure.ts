import { type ErrorCode, LonghaulError } from '../../errors.ts';

/** What the system says of a file, in words. */
const FILE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this account may not',
  EPERM: 'this account may not',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a file is where a folder should be',
  EEXIST: 'there is a file of that name',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
};

/** What the system says when a service cannot listen. */
const LISTEN_CODES: Readonly<Record<string, ErrorCode>> = {
  EADDRINUSE: 'port-in-use',
  EACCES: 'port-privileged',
  EADDRNOTAVAIL: 'address-not-here',
  // No IPv6 in this kernel.
  EAFNOSUPPORT: 'address-not-here',
};

/** Why a file or folder could not be used, in a few words, with the system's own code. */
export function fileReason(failure: unknown): string {
  const code = systemCode(failure);
  const reason = code === undefined ? undefined : FILE_REASONS[code];
  if (reason !== undefined) return `${reason} (${code})`;
  return failure instanceof Error ? failure.message : String(failure);
}

/** A failure to bind a listener as a registered one that names the address; any other failure as it is. */
export function asListenFailure(failure: unknown, place: string): unknown {
  const code = LISTEN_CODES[systemCode(failure) ?? ''];
  return code === undefined ? failure : new LonghaulError(code, { detail: place, cause: failure });
}

function systemCode(failure: unknown): string | undefined {
  return failure instanceof Error && 'code' in failure ? String(failure.code) : undefined;
}
