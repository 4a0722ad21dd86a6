import { api } from './browser-api.ts';

/** Whether the user lets the add-on reach all of these addresses: he may have granted single sites, or none. */
export async function hasAccess(urls: readonly string[]): Promise<boolean> {
  const origins = urls.flatMap((text) => {
    const url = URL.parse(text);
    // Grants are for hosts, whatever the port.
    return url ? [`${url.protocol}//${url.hostname}/*`] : [];
  });
  return api.permissions.contains({ origins });
}
