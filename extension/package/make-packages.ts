import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { buildExtension } from '../build.ts';
import { GECKO_ID, TARGETS, type Target } from '../src/manifest.ts';
import { writeCrx } from './write-crx.ts';
import { writeZip, type ZipEntry } from './write-zip.ts';

/** What stores and people load without thinking about it; the languages and pictures are in it. */
export const MAX_PACKAGE_BYTES = 100_000;

export interface PackageOptions {
  readonly version: string;
  /**
   * Where an organisation keeps the files below, as an https address without a slash at the end; without it
   * they are for the stores.
   */
  readonly updateBase?: string;
  /** The key by which Chromium knows the organisation's copy, in PEM; needed with `updateBase`. */
  readonly keyPem?: string;
  /** The master that this copy knows from the beginning. */
  readonly master?: string;
}

export interface PackageFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** What is made, and Chromium's id of it where it has a key. */
export interface Packages {
  readonly files: readonly PackageFile[];
  readonly chromiumId?: string;
}

/**
 * The archives for both stores; with `updateBase` also what an organisation serves itself: Chromium's signed
 * form and both update files. The same input gives the same bytes. Throws where an archive is larger than
 * `MAX_PACKAGE_BYTES`.
 */
export async function makePackages(options: PackageOptions): Promise<Packages> {
  const { version, updateBase, keyPem } = options;
  const [chrome, firefox] = await Promise.all(TARGETS.map((target) => archive(target, options)));
  const files = [
    { name: `longhaul-${version}-chromium.zip`, bytes: chrome as Buffer },
    { name: `longhaul-${version}-firefox.xpi`, bytes: firefox as Buffer },
  ];
  if (updateBase === undefined) return { files };
  if (keyPem === undefined) throw new Error('Chromium needs a key to know its updates by: give one.');
  const crx = writeCrx(files[0]?.bytes as Buffer, keyPem);
  const crxName = `longhaul-${version}.crx`;
  const own = [
    { name: crxName, bytes: crx.bytes },
    { name: 'updates.xml', bytes: Buffer.from(updatesXml(crx.id, version, `${updateBase}/${crxName}`)) },
    { name: 'updates.json', bytes: Buffer.from(updatesJson(version, updateBase, files[1] as PackageFile)) },
  ];
  return { files: [...files, ...own], chromiumId: crx.id };
}

async function archive(target: Target, { updateBase, master }: PackageOptions): Promise<Buffer> {
  const outDir = await mkdtemp(join(tmpdir(), 'longhaul-package-'));
  try {
    const defaults = master === undefined ? {} : { master };
    const update = updateBase === undefined ? {} : { updateBase };
    await buildExtension({ outDir, target, defaults, ...update });
    const zip = writeZip(await entriesOf(outDir));
    if (zip.length > MAX_PACKAGE_BYTES)
      throw new Error(`The archive for ${target} has ${zip.length} bytes, more than ${MAX_PACKAGE_BYTES}.`);
    return zip;
  } finally {
    await rm(outDir, { recursive: true });
  }
}

async function entriesOf(folder: string): Promise<readonly ZipEntry[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(
    paths.map(async (path) => ({
      name: relative(folder, path).split(sep).join('/'),
      bytes: await readFile(path),
    })),
  );
}

function updatesXml(id: string, version: string, crxUrl: string): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<gupdate xmlns="http://www.google.com/update2/response" protocol="2.0">',
    `  <app appid="${id}">`,
    `    <updatecheck codebase="${crxUrl}" version="${version}" />`,
    '  </app>',
    '</gupdate>\n',
  ].join('\n');
}

function updatesJson(version: string, updateBase: string, { name, bytes }: PackageFile): string {
  const hash = createHash('sha256').update(bytes).digest('hex');
  const update = { version, update_link: `${updateBase}/${name}`, update_hash: `sha256:${hash}` };
  return `${JSON.stringify({ addons: { [GECKO_ID]: { updates: [update] } } }, null, 2)}\n`;
}
