import { type OriginUrl, parseOriginUrl } from '@longhaul/shared';

/** An address as masters and depots read it; `undefined` where it is none that they would. */
export function parseUrl(text: string): OriginUrl | undefined {
  const url = parseOriginUrl(text);
  return url.ok ? url.value : undefined;
}
