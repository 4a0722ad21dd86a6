import { escapeMarkdown } from './markdown-table.ts';

/** A file beside the page. */
export interface Picture {
  /** In lower case, without the page's name and ending: `goodput-cubic`. */
  readonly name: string;
  /** Alternative text. */
  readonly title: string;
  readonly svg: string;
}

/** A part of a page: text, then a picture, then a table. */
export interface Section {
  readonly title: string;
  /** Markdown paragraphs before the picture. */
  readonly text?: readonly string[];
  readonly picture?: Picture;
  /** Markdown after the picture. */
  readonly tables: readonly string[];
}

/** What an experiment's kind makes of its lines. */
export interface ReportBody {
  /** Sentences that say what is seen, computed from the lines; Markdown. */
  readonly findings: readonly string[];
  readonly sections: readonly Section[];
}

/** A name for a file, from any words. */
export function slug(...words: readonly string[]): string {
  const joined = words
    .join(' ')
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[^a-z0-9]+/g, '-');
  return joined.replaceAll(/^-+|-+$/g, '') || 'chart';
}

/** Section as Markdown; pictures are found below `folder`, under the page's name. */
export function sectionMarkdown(section: Section, folder: string, page: string): string {
  const { picture } = section;
  const image = picture && `![${escapeMarkdown(picture.title)}](${folder}/${pictureFile(picture, page)})`;
  const parts = [`## ${escapeMarkdown(section.title)}`, ...(section.text ?? []), image, ...section.tables];
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n');
}

export function pictureFile(picture: Picture, page: string): string {
  return `${page}-${picture.name}.svg`;
}
