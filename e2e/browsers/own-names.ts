import { chmod, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BrowserHome } from './browser-home.ts';

/**
 * A program that starts a browser for which all names are looked up at one name server, on port 53: in its
 * own mounts, so that nobody else's change. Only root may have those.
 */
export async function withNameServer(
  { profileDir }: BrowserHome,
  executable: string,
  nameServer: string | undefined,
): Promise<string> {
  if (nameServer === undefined) return executable;
  const folder = dirname(profileDir);
  const resolvers = join(folder, 'resolv.conf');
  const starter = join(folder, 'start-browser');
  await writeFile(resolvers, `nameserver ${nameServer}\n`);
  const inside = `mount --bind ${resolvers} /etc/resolv.conf && exec ${executable} "$@"`;
  await writeFile(starter, `#!/bin/sh\nexec unshare --mount sh -c '${inside}' browser "$@"\n`);
  await chmod(starter, 0o700);
  return starter;
}
