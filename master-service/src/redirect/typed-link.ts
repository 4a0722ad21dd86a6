import { percentEncodeBytes } from '@longhaul/shared';
import type { TypedLink } from '../http/refusal-page.ts';

/**
 * What a raw request target below `/get` asks for, whether it can be planned or not; empty where it asks for
 * nothing.
 */
export function typedLink(rawTarget: string): TypedLink {
  if (rawTarget.startsWith('/get?')) {
    const form = new URLSearchParams(rawTarget.slice('/get?'.length));
    return { link: form.get('url') ?? '', size: form.get('size') ?? '' };
  }
  const rest = percentEncodeBytes(rawTarget.replace(/^\/get\/(?:~[^/]*\/)?/, ''));
  // A scheme stands alone before its slash; a host that somebody began with has a dot, a whole URL a colon.
  const [, scheme, place] = /^([A-Za-z]+)\/(.*)$/s.exec(rest) ?? [];
  return { link: scheme === undefined ? rest : `${scheme}://${place}`, size: '' };
}
