import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { LonghaulError } from '../../errors.ts';

/**
 * One style for all pages, so that no refusal looks like somebody else's. The files belong to the sources, as
 * this one does.
 */
const STYLE = ['colours.css', 'pages.css']
  .map((name) => readFileSync(new URL(`../../brand/${name}`, import.meta.url), 'utf8'))
  .join('');

/**
 * The part of a Content-Security-Policy that goes with `staticPage`: nothing runs, is loaded or framed, and
 * its own style is the only one.
 */
export const STATIC_PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256')
  .update(STYLE)
  .digest('base64')}'; base-uri 'none'; frame-ancestors 'none'`;

/**
 * A page without scripts. `parts` is HTML: everything from outside in it must be escaped. `base` leads to the
 * master's first page.
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

/** What a refusal is called, in a few words. */
export function refusalTitle({ status, code }: LonghaulError): string {
  if (code === 'origin-not-allowed' || code === 'port-not-allowed') return 'Not accelerated';
  if (status === 404) return 'Nothing here';
  if (status === 429 || status === 503) return 'Not now';
  if (status >= 500) return 'Something went wrong';
  return 'This link does not work';
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

/** The same for a sentence of the error registry, where what is to be typed stands between backticks. */
export function sentenceHtml(sentence: string): string {
  return escapeHtml(sentence).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** The sign of the service, as on the first page and in its icon. */
const SIGN =
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0b6e6e"/>' +
  '<path d="M6 16h20" stroke="#9fe3d6" stroke-width="2.5" fill="none"/><g fill="#fff">' +
  '<circle cx="6.5" cy="16" r="3.2"/><circle cx="16" cy="16" r="3.2"/><circle cx="25.5" cy="16" r="3.2"/></g></svg>';
