import type { DownloadStart } from '../browser/downloads.ts';
import { isChromium } from '../browser/target.ts';
import { directUrl } from '../url-fragment.ts';

/**
 * A download from the origin itself, as if there were no add-on. In Firefox it has neither the page that
 * asked nor the name that the answer offers by itself; Chromium lets no add-on say the one, and takes the
 * other.
 * @param name empty where nobody knows it
 */
export function directStart(originUrl: string, page: string, name: string): DownloadStart {
  const referer = isChromium ? '' : refererFor(page, originUrl);
  return { url: directUrl(originUrl), name, headers: referer === '' ? {} : { Referer: referer } };
}

/** What a browser would send as `Referer` by its default policy, `strict-origin-when-cross-origin`. */
function refererFor(page: string, url: string): string {
  const from = URL.parse(page);
  const to = URL.parse(url);
  if (!from || !to || !/^https?:$/.test(from.protocol)) return '';
  if (from.origin === to.origin) return `${from.origin}${from.pathname}${from.search}`;
  return from.protocol === 'https:' && to.protocol === 'http:' ? '' : `${from.origin}/`;
}
