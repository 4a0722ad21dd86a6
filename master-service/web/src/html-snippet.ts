/** A link for a web page; `name` is the text that people see. */
export function htmlSnippet(masterUrl: string, name: string): string {
  return `<a href="${escapeHtml(masterUrl)}">${escapeHtml(name)}</a>`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
