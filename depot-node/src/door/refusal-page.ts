import {
  ERRORS,
  type ErrorCode,
  formatGetPath,
  type LonghaulError,
  type OriginUrl,
  originHref,
} from '@longhaul/shared';
import { escapeHtml, refusalTitle, STATIC_PAGE_POLICY, staticPage } from '@longhaul/shared/service';

/** What a refusal can lead on to. */
export interface LeadingOn {
  /** Base URL of the master; `undefined` before one has been heard. */
  readonly masterUrl: string | undefined;
  /** The download, where a ticket proves that it was planned: other links are not this depot's to show. */
  readonly target: OriginUrl | undefined;
}

/** Nothing of the page runs; its links lead to the master, whose answers are downloads. */
export const REFUSAL_PAGE_POLICY = `${STATIC_PAGE_POLICY}; form-action 'none'; sandbox allow-downloads`;

/** What the origin itself may do better, and another ticket as well. */
const FOR_ANOTHER_TICKET: ErrorCode = 'budget-used-up';

/**
 * The page of a refusal: what happened, what to do, and what leads on. Its links lead to the master alone;
 * where the origin itself may give the file, its address is text to copy, as on the master's own page.
 */
export function refusalPage(error: LonghaulError, { masterUrl, target }: LeadingOn): string {
  const { code, retry } = error;
  // What no other depot can do better is left to the origin itself.
  const mayDoBetter = retry || !ERRORS[code].direct || code === FOR_ANOTHER_TICKET;
  const again =
    masterUrl !== undefined && target && mayDoBetter ? masterUrl + formatGetPath(target, {}) : undefined;
  const help = masterUrl === undefined ? code : `<a href="${escapeHtml(masterUrl)}/help#${code}">${code}</a>`;
  return staticPage(refusalTitle(error), escapeHtml(masterUrl === undefined ? '' : `${masterUrl}/`), [
    '<section class="card error">',
    `<p>${escapeHtml(error.message)}</p>`,
    ...(again === undefined ? [] : [`<p><a class="button" href="${escapeHtml(again)}">Start again</a></p>`]),
    ...(target && ERRORS[code].direct ? directAdvice(target) : []),
    `<p class="hint">Code: ${help}</p>`,
    '</section>',
  ]);
}

function directAdvice(target: OriginUrl): string[] {
  return [
    `<p>Your browser may still get the file from <strong>${escapeHtml(target.host)}</strong> itself. Its address:</p>`,
    `<p class="target"><code class="line">${escapeHtml(originHref(target))}</code></p>`,
  ];
}
