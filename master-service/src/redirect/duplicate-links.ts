/** Download tools give up on a header line past a limit, some at 8 KB: one duplicate less is better than that. */
const MAX_LINK_CHARS = 4000;
/**
 * `Location` and `Link` together, unless address and origin alone are longer: nginx before a master answers 502 to a
 * head of more than 4 KB (`proxy_buffer_size`), and the other lines of this one are some 450.
 */
const MAX_REDIRECT_CHARS = 3500;
const SEPARATOR = ', ';

/**
 * The value of a `Link` header (RFC 8288) that names where else the same bytes are (RFC 6249), best first, the origin
 * last; empty when there is nothing to name. A URL with raw `<`, `>` or `"` is left out: it could not be written there
 * unchanged, and a changed one would not fit its ticket. So is an alternative for which there is no room beside
 * `location` and the origin, which alone gives the file when no depot does.
 */
export function duplicateLinks(urls: readonly string[], location = ''): string {
  const origin = urls.slice(-1).filter((url) => isWritable(url) && linkTo(url, 1).length <= MAX_LINK_CHARS);
  const reserved = origin.reduce((sum, url) => sum + SEPARATOR.length + linkTo(url, urls.length).length, 0);
  const links: string[] = [];
  let room = MAX_REDIRECT_CHARS - location.length - reserved;
  for (const url of urls.slice(0, -1)) {
    if (!isWritable(url)) continue;
    const link = linkTo(url, links.length + 1);
    const added = link.length + (links.length > 0 ? SEPARATOR.length : 0);
    if (added > room) continue;
    links.push(link);
    room -= added;
  }
  for (const url of origin) links.push(linkTo(url, links.length + 1));
  return links.join(SEPARATOR);
}

function isWritable(url: string): boolean {
  return !/[<>"]/.test(url);
}

function linkTo(url: string, priority: number): string {
  return `<${url}>; rel=duplicate; pri=${priority}`;
}
