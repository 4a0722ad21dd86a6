/** A table of Markdown; the first column is text, the others are numbers and stand to the right. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { textColumns = 1 } = {},
): string {
  const rule = head.map((_, at) => (at < textColumns ? '---' : '---:'));
  return [head.map(escapeCell), rule, ...rows.map((row) => row.map(escapeCell))]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** What a table's cell may hold: one line, no bar that would begin the next cell. */
function escapeCell(content: string): string {
  return content.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ');
}

/** Makes any text safe as plain words of a page. */
export function escapeMarkdown(plain: string): string {
  return plain.replaceAll(/[\\`*_[\]<>]/g, (found) => `\\${found}`);
}

/** Text as code, whatever backticks it holds. */
export function inlineCode(plain: string): string {
  const longest = Math.max(0, ...(plain.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return longest > 0 ? `${fence} ${plain} ${fence}` : `${fence}${plain}${fence}`;
}
