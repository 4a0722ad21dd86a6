/** Download tools limit a header line, some to 8 KB, and give up past it: better a duplicate less. */
const MAX_LINK_CHARS = 4000;
const SEPARATOR = ', ';

/**
 * The value of a `Link` header (RFC 8288) that names where else the same bytes are (RFC 6249), best first; empty when
 * there is nothing to name. A URL with raw `<`, `>` or `"` is left out: it could not be written there unchanged, and
 * a changed one would not fit its ticket. So is one that does not fit any more.
 */
export function duplicateLinks(urls: readonly string[]): string {
  const links: string[] = [];
  let length = 0;
  for (const url of urls) {
    if (/[<>"]/.test(url)) continue;
    const link = `<${url}>; rel=duplicate; pri=${links.length + 1}`;
    const added = link.length + (links.length > 0 ? SEPARATOR.length : 0);
    if (length + added > MAX_LINK_CHARS) continue;
    links.push(link);
    length += added;
  }
  return links.join(SEPARATOR);
}
