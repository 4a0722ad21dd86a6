import { formatAuthority, type OriginPlace, type OriginUrl } from '@longhaul/shared';

/** People's folders are shorter, and so many may be remembered. */
const LONGEST_FOLDER_CHARS = 500;

/** A text that stands for an origin. */
export function originOf({ scheme, host, port }: OriginPlace): string {
  return `${scheme} ${formatAuthority(host, port)}`;
}

/**
 * A text that stands for the folder of a file; `undefined` where a query, or a path of such length, says
 * which file it is, or who may have it.
 */
export function folderOf(url: OriginUrl): string | undefined {
  const { path, query } = url;
  return query === null ? textOf(url, path.slice(0, path.lastIndexOf('/') + 1)) : undefined;
}

/**
 * A text that stands for what makes a file: the program that a query is for, else its folder; `undefined`
 * where its path is too long for that.
 */
export function makerOf(url: OriginUrl): string | undefined {
  return url.query === null ? folderOf(url) : textOf(url, `${url.path}?`);
}

function textOf(url: OriginUrl, path: string): string | undefined {
  return path.length <= LONGEST_FOLDER_CHARS ? originOf(url) + path : undefined;
}
