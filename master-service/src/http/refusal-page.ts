import { ERRORS, type LonghaulError, type OriginUrl, originHref } from '@longhaul/shared';
import { escapeHtml, refusalTitle, staticPage } from '@longhaul/shared/service';

/** A link as somebody meant it, for a field in which it can be corrected. */
export interface TypedLink {
  readonly link: string;
  /** As typed into a form; empty where nothing was. */
  readonly size: string;
}

/** What a refusal is about, where it is about a download. */
export interface Refused {
  /** The download, where its address could be read. */
  readonly target?: OriginUrl;
  /** What was asked for, to be corrected. */
  readonly typed?: TypedLink;
}

/** Longer text in a field is no link that somebody would correct: a URL has 8 KiB at most. */
const MAX_TYPED_CHARS = 10_000;

/**
 * The page of a refusal: what happened, what to do, and what leads on. All its links stay on this master,
 * whatever was asked for: a link elsewhere would make the refusal a redirector. Where the origin itself may
 * give the file, its address is text to copy, and only where it is an address: visible ASCII without spaces,
 * so that nobody can write sentences here.
 */
export function refusalPage(requestTarget: string, error: LonghaulError, { target, typed }: Refused): string {
  const base = baseOf(requestTarget);
  return staticPage(refusalTitle(error), base, [
    '<section class="card error">',
    `<p>${escapeHtml(error.message)}</p>`,
    ...(target && ERRORS[error.code].direct ? directAdvice(target) : []),
    // The address itself, without its fragment: the same request once more.
    ...(error.retry ? ['<p><a class="button" href="">Try again</a></p>'] : []),
    `<p class="hint">Code: <a href="${base}help#${error.code}">${error.code}</a></p>`,
    '</section>',
    ...(typed && !error.retry ? correction(base, typed) : [`<p><a href="${base}">Plan a download</a></p>`]),
  ]);
}

function directAdvice(target: OriginUrl): string[] {
  return [
    `<p>Your browser may still get the file from <strong>${escapeHtml(target.host)}</strong> itself. Longhaul does not ` +
      'forward you there, because this master does not vouch for it. If you trust that host, copy the address:</p>',
    `<p class="target"><code class="line">${escapeHtml(originHref(target))}</code></p>`,
  ];
}

function correction(base: string, { link, size }: TypedLink): string[] {
  const value = (text: string) => escapeHtml(text.slice(0, MAX_TYPED_CHARS));
  return [
    `<form class="link-form" action="${base}" method="get">`,
    '<div class="link-row">',
    '<div><label for="url">Correct the link</label>',
    `<input id="url" name="url" required inputmode="url" autocapitalize="none" spellcheck="false" value="${value(link)}"></div>`,
    '<div class="size-field"><label for="size">Size, if known</label>',
    `<input id="size" name="size" placeholder="700 MB" value="${value(size)}"></div>`,
    '<button>Plan it</button>',
    '</div>',
    '</form>',
  ];
}

/**
 * The relative way from the address of a request to the master's first page: it holds below a path of a
 * reverse proxy, too. Browsers have resolved dot segments before they ask.
 */
export function baseOf(requestTarget: string): string {
  const path = requestTarget.split(/[?#]/, 1)[0] ?? '';
  return '../'.repeat(Math.max(0, path.split('/').length - 2)) || './';
}
