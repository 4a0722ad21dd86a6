/**
 * The value of a `Link` header (RFC 8288) that names where else the same bytes are (RFC 6249), best first; empty when
 * there is nothing to name. A URL with raw `<`, `>` or `"` is left out: it could not be written there unchanged, and
 * a changed one would not fit its ticket.
 */
export function duplicateLinks(urls: readonly string[]): string {
  return urls
    .filter((url) => !/[<>"]/.test(url))
    .map((url, index) => `<${url}>; rel=duplicate; pri=${index + 1}`)
    .join(', ');
}
