import { hostHeader, parseOriginUrl } from '@longhaul/shared';

/** The base URL of a master as `scheme://host[:port]`; `undefined` when the text is not one. */
export function parseMasterAddress(text: string): string | undefined {
  const parsed = parseOriginUrl(text);
  if (!parsed.ok || parsed.value.path !== '/' || parsed.value.query !== null) return undefined;
  return `${parsed.value.scheme}://${hostHeader(parsed.value)}`;
}
