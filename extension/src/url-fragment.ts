import { DIRECT_FRAGMENT } from '@longhaul/shared';

export function withoutFragment(url: string): string {
  return url.split('#', 1)[0] ?? '';
}

/** The form of a URL that the add-on lets pass. */
export function directUrl(url: string): string {
  return `${withoutFragment(url)}${DIRECT_FRAGMENT}`;
}
