import { readFileSync } from 'node:fs';
import { staticPagePolicy } from './security-headers.ts';

/** One style for all pages, so that no refusal looks like somebody else's. It belongs to the sources, as this file does. */
const STYLE = readFileSync(new URL('../../web/src/brand.css', import.meta.url), 'utf8');

/** The Content-Security-Policy that goes with `staticPage`. */
export const STATIC_PAGE_POLICY = staticPagePolicy(STYLE);

/**
 * A page without scripts. `parts` is HTML: everything from outside in it must be escaped. `base` is the way from the page's
 * address to the master's first page, as `baseOf` gives it.
 */
export function staticPage(title: string, base: string, parts: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} - Longhaul</title>
<style>${STYLE}</style>
</head>
<body>
<main class="page">
<header>
<p class="brand">${SIGN}<a href="${base}">Longhaul</a></p>
<h1>${escapeHtml(title)}</h1>
</header>
${parts.join('\n')}
</main>
</body>
</html>
`;
}

/**
 * The relative way from the address of a request to the master's first page: it holds below a path of a reverse proxy, too.
 * Browsers have resolved dot segments before they ask.
 */
export function baseOf(requestTarget: string): string {
  const path = requestTarget.split(/[?#]/, 1)[0] ?? '';
  return '../'.repeat(Math.max(0, path.split('/').length - 2)) || './';
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

/** The sign of the service, as on the first page and in its icon. */
const SIGN =
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0b6e6e"/>' +
  '<path d="M6 16h20" stroke="#9fe3d6" stroke-width="2.5" fill="none"/><g fill="#fff">' +
  '<circle cx="6.5" cy="16" r="3.2"/><circle cx="16" cy="16" r="3.2"/><circle cx="25.5" cy="16" r="3.2"/></g></svg>';
