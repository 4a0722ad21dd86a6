/** Download tools give up on a header line past a limit, some at 8 KB: one duplicate less is better than that. */
const MAX_LINK_CHARS = 4000;
const SEPARATOR = ', ';

/**
 * The value of a `Link` header (RFC 8288) that names where else the same bytes are (RFC 6249), best first; empty when
 * there is nothing to name. A URL with raw `<`, `>` or `"` is left out: it could not be written there unchanged, and
 * a changed one would not fit its ticket. A URL for which there is no more room is left out, too.
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
