/** What people copy from the page. */

/** A link for a web page; `name` is the text people see. */
export function htmlSnippet(masterUrl: string, name: string): string {
  return `<a href="${escapeHtml(masterUrl)}">${escapeHtml(name)}</a>`;
}

/** A command line that downloads under the file's own name, whatever characters the link has. */
export function curlLine(masterUrl: string): string {
  // Brackets and braces are patterns to curl unless it is told otherwise.
  const options = /[[\]{}]/.test(masterUrl) ? '-g -L -O' : '-L -O';
  return `curl ${options} '${masterUrl.replaceAll("'", "'\\''")}'`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
