/** Stands behind a site's name where its master has measured, and not its depot: nobody has to be believed then. */
const BY_MASTER = '@master';

/** By whom a client network is measured whom the master of a site has seen. */
export function masterOf(depot: string): string {
  return `${depot}${BY_MASTER}`;
}

/** The depot of the site whose master has measured; `undefined` where it was a depot itself. */
export function siteOf(measuredBy: string): string | undefined {
  return measuredBy.endsWith(BY_MASTER) ? measuredBy.slice(0, -BY_MASTER.length) : undefined;
}
