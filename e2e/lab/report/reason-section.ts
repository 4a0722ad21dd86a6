import { byScenario, type Cell } from './cells.ts';
import { escapeMarkdown, inlineCode, markdownTable } from './markdown-table.ts';
import type { Section } from './page-parts.ts';

/** Why each scenario of the page is there; left out where none says. */
export function reasonSection(cells: readonly Cell[]): Section {
  const rows = byScenario(cells).flatMap(([{ id, label, why }]) =>
    why === undefined ? [] : [[inlineCode(id), escapeMarkdown(label), escapeMarkdown(why)]],
  );
  return {
    title: 'Why these scenarios',
    tables: rows.length === 0 ? [] : [markdownTable(['scenario', 'path', 'why'], rows, { textColumns: 3 })],
  };
}
