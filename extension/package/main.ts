/**
 * `npm run package`: writes the add-on's archives for both stores, or for an organisation, to
 * `extension/dist/packages`.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseMasterAddress } from '../src/settings/parse-master-address.ts';
import { makePackages } from './make-packages.ts';

const USAGE = `npm run package -- [--update-base https://... --key <RSA key in PEM>] [--master <address>]
Without options: the archives for the stores. With them: also what an organisation serves itself (docs/organisations.md).
`;

interface Options {
  readonly updateBase?: string;
  readonly key?: string;
  readonly master?: string;
}

/** The options, or a sentence that says what is wrong with them. */
function readOptions(): Options | string {
  try {
    const { values } = parseArgs({
      options: { 'update-base': { type: 'string' }, key: { type: 'string' }, master: { type: 'string' } },
    });
    const { 'update-base': updateBase, key, master } = values;
    if (updateBase !== undefined && !/^https:\/\/[^?#\s]+[^/?#\s]$/.test(updateBase))
      return 'Browsers update only from https: give --update-base as https://host/folder.';
    if ((updateBase === undefined) !== (key === undefined)) return 'Give --update-base and --key together.';
    if (master !== undefined && parseMasterAddress(master) === undefined)
      return `'${master}' is no address of a master.`;
    return {
      ...(updateBase === undefined ? {} : { updateBase }),
      ...(key === undefined ? {} : { key }),
      ...(master === undefined ? {} : { master }),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const options = readOptions();
if (typeof options === 'string') {
  process.stderr.write(`${options}\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  const { key, ...others } = options;
  const packageText = await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8');
  const { version } = JSON.parse(packageText) as { version: string };
  const keyPem = key === undefined ? {} : { keyPem: await readFile(key, 'utf8') };
  const { files, chromiumId } = await makePackages({ version, ...keyPem, ...others });
  const folder = join(import.meta.dirname, '..', 'dist', 'packages');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const { name, bytes } of files) {
    await writeFile(join(folder, name), bytes);
    const hash = createHash('sha256').update(bytes).digest('hex');
    process.stdout.write(`${hash}  ${name} (${bytes.length} bytes)\n`);
  }
  if (chromiumId !== undefined) process.stdout.write(`Chromium's id of it: ${chromiumId}\n`);
}
