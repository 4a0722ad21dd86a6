import { readFileSync } from 'node:fs';

/** The version in a package.json; throws where there is none. */
export function packageVersion(file: URL): string {
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
  return version;
}
