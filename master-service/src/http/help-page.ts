import { ERRORS } from '@longhaul/shared';
import { sentenceHtml, staticPage } from '@longhaul/shared/service';

/** How links are written, then every code that an answer may carry, from the registry. */
export function helpPage(): string {
  const codes = Object.entries(ERRORS).filter(([, { status }]) => status >= 400);
  return staticPage('Help', './', [
    ...LINKS,
    ...codes.flatMap(([code, { status, retry, direct, message }]) => [
      `<section class="card" id="${code}">`,
      `<h2><code>${code}</code></h2>`,
      `<p>${sentenceHtml(message)}</p>`,
      `<p class="hint">${[
        `Status ${status}`,
        retry ? 'asking again may help' : 'asking again, unchanged, does not help',
        ...(direct ? ['the origin itself may still give the file'] : []),
      ].join('; ')}.</p>`,
      '</section>',
    ]),
  ]);
}

const LINKS = [
  '<section class="card" id="links">',
  '<h2>Links</h2>',
  '<p>The address of this master, then <code>/get/</code>, then the link of the file with <code>/</code> in place of ' +
    '<code>://</code>:</p>',
  '<p class="target"><code class="line">/get/https/downloads.example.org/images/disk.iso</code></p>',
  '<p>Options stand before the scheme, joined by commas: <code>/get/~size=734003200,avoid=d2/https/...</code></p>',
  '<ul>',
  '<li><code>size=</code> the size of the file in bytes, so that the plan need not assume one;</li>',
  '<li><code>avoid=</code> depots to leave out, joined by <code>+</code>;</li>',
  '<li><code>via=</code> exactly these depots, in the order the bytes pass, and <code>lanes=</code> so many connections ' +
    'to the origin: only where the operator allows it.</li>',
  '</ul>',
  '</section>',
  '<p class="lead">An answer that refuses something carries one of these codes.</p>',
];
