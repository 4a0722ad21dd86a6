/** A piece of SVG that is valid by itself: made by {@link element} and {@link text} only. */
export type Markup = string & { readonly isMarkup: true };

export type Attributes = Readonly<Record<string, string | number>>;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Text for content and attributes; control characters, which XML 1.0 forbids even escaped, are left out. */
export function escapeXml(plain: string): string {
  return plain
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, '')
    .replace(/[&<>"]/g, (found) => ESCAPES[found] ?? '');
}

/** Numbers are written with at most one decimal: a tenth of a pixel is enough. */
export function element(name: string, attributes: Attributes = {}, ...children: readonly Markup[]): Markup {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? shortNumber(value) : escapeXml(value)}"`)
    .join('');
  const inner = children.join('');
  return (inner ? `<${name}${written}>${inner}</${name}>` : `<${name}${written}/>`) as Markup;
}

/** Text at a place; `class` and `text-anchor` come with the attributes. */
export function text(x: number, y: number, content: string, attributes: Attributes = {}): Markup {
  return element('text', { x, y, ...attributes }, escapeXml(content) as Markup);
}

export function line(x1: number, y1: number, x2: number, y2: number, attributes: Attributes = {}): Markup {
  return element('line', { x1, y1, x2, y2, ...attributes });
}

/**
 * Pixels that a text needs in the font of our charts, on the safe side: there is nobody to ask in a generator, and the
 * reader's system font is unknown.
 */
export function textWidth(content: string, fontSize: number): number {
  return Array.from(content).reduce((sum, letter) => sum + fontSize * (NARROW.has(letter) ? 0.34 : 0.6), 0);
}

const NARROW = new Set("iljftI.,:;'|!()[] ");

/** A whole picture: scales to its place, speaks to screen readers, needs nothing from outside. */
export function svgDocument(
  picture: {
    readonly width: number;
    readonly height: number;
    readonly title: string;
    readonly description: string;
    readonly style: string;
  },
  ...body: readonly Markup[]
): string {
  const { width, height, title, description, style } = picture;
  const root = element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox: `0 0 ${shortNumber(width)} ${shortNumber(height)}`,
      width,
      height,
      role: 'img',
      'aria-labelledby': 'title description',
    },
    element('title', { id: 'title' }, escapeXml(title) as Markup),
    element('desc', { id: 'description' }, escapeXml(description) as Markup),
    element('style', {}, escapeXml(style) as Markup),
    ...body.map((part) => `\n${part}` as Markup),
  );
  return `${root}\n`;
}

function shortNumber(value: number): string {
  return String(Math.round(value * 10) / 10);
}
