import { staticPagePolicy } from './security-headers.ts';

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif }
body { max-width: 40rem; margin: 12vh auto 4rem; padding: 0 1.25rem }
h1 { font-size: 1.5rem; line-height: 1.25 }
code { font: 0.9em/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
p.target { padding: 0.75rem 1rem; border: 1px solid #8886; border-radius: 0.5rem }
p.code { opacity: 0.75 }`;

/** The Content-Security-Policy that goes with `staticPage`. */
export const STATIC_PAGE_POLICY = staticPagePolicy(STYLE);

/** A page without scripts and links. `paragraphs` is HTML: everything from outside in it must be escaped. */
export function staticPage(title: string, paragraphs: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${paragraphs.join('\n')}
</main>
</body>
</html>
`;
}

/** Text that means only itself, in HTML content and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
