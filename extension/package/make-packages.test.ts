import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { expect, it, vi } from 'vitest';
import { GECKO_ID } from '../src/manifest.ts';
import { MAX_PACKAGE_BYTES, makePackages, type Packages } from './make-packages.ts';
import { writeZip } from './write-zip.ts';

// Each makes both packages, some of them twice.
vi.setConfig({ testTimeout: 60_000 });

const VERSION = '0.1.0';
const { privateKey: KEY } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keyPem = KEY.export({ type: 'pkcs8', format: 'pem' }).toString();
const OWN = { version: VERSION, updateBase: 'https://get.example/addon', keyPem };

const bytesOf = ({ files }: Packages, end: string): Buffer => {
  const file = files.find(({ name }) => name.endsWith(end));
  if (!file) throw new Error(`no ${end}`);
  return file.bytes;
};

/** The files in an archive, as its own entries tell. */
function unpack(zip: Buffer): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; zip.readUInt32LE(at) === 0x04034b50; ) {
    const packedBytes = zip.readUInt32LE(at + 18);
    const nameEnd = at + 30 + zip.readUInt16LE(at + 26);
    files.set(
      zip.toString('utf8', at + 30, nameEnd),
      inflateRawSync(zip.subarray(nameEnd, nameEnd + packedBytes)),
    );
    at = nameEnd + packedBytes;
  }
  return files;
}

const manifestIn = (zip: Buffer) => JSON.parse(unpack(zip).get('manifest.json')?.toString() ?? '{}');

it('makes the same bytes of the same input, small enough for everybody', async () => {
  const [one, other] = [await makePackages({ version: VERSION }), await makePackages({ version: VERSION })];
  expect(one.files.map(({ name }) => name)).toEqual([
    'longhaul-0.1.0-chromium.zip',
    'longhaul-0.1.0-firefox.xpi',
  ]);
  for (const [index, { bytes }] of one.files.entries()) {
    expect(bytes.equals(other.files[index]?.bytes ?? Buffer.alloc(0))).toBe(true);
    expect(bytes.length).toBeLessThanOrEqual(MAX_PACKAGE_BYTES);
  }
});

it('packs by names and contents alone, in whatever order they come', () => {
  const files = [
    { name: 'b/ü.txt', bytes: Buffer.from('two') },
    { name: 'a.txt', bytes: Buffer.alloc(0) },
  ];
  const zip = writeZip(files);
  expect(writeZip(files.toReversed()).equals(zip)).toBe(true);
  expect([...unpack(zip)].map(([name, bytes]) => [name, bytes.toString()])).toEqual([
    ['a.txt', ''],
    ['b/ü.txt', 'two'],
  ]);
});

it('gives stores an archive without updates from elsewhere, and no default', async () => {
  const packages = await makePackages({ version: VERSION });
  for (const end of ['.zip', '.xpi'])
    expect(JSON.stringify(manifestIn(bytesOf(packages, end)))).not.toContain('update_url');
  expect(packages.chromiumId).toBeUndefined();
});

it('gives an organisation what it serves: its own copies, signed for Chromium, with both update files', async () => {
  const packages = await makePackages({ ...OWN, master: 'https://get.example' });
  const xpi = bytesOf(packages, '.xpi');
  expect(manifestIn(bytesOf(packages, '.zip')).update_url).toBe('https://get.example/addon/updates.xml');
  expect(manifestIn(xpi).browser_specific_settings.gecko.update_url).toBe(
    'https://get.example/addon/updates.json',
  );
  const scripts = [...unpack(xpi)].map(([, bytes]) => bytes.toString()).join('');
  expect(scripts).toMatch(/"?master"?:[`"]https:\/\/get\.example[`"]/);
  const [update] = JSON.parse(bytesOf(packages, '.json').toString()).addons[GECKO_ID].updates;
  expect(update).toEqual({
    version: VERSION,
    update_link: 'https://get.example/addon/longhaul-0.1.0-firefox.xpi',
    update_hash: `sha256:${createHash('sha256').update(xpi).digest('hex')}`,
  });
  const xml = bytesOf(packages, '.xml').toString();
  expect(xml).toContain(`appid="${packages.chromiumId}"`);
  expect(xml).toContain('codebase="https://get.example/addon/longhaul-0.1.0.crx" version="0.1.0"');
});

it("signs Chromium's copy by the key that its id is made of, with the same bytes each time", async () => {
  const packages = await makePackages(OWN);
  const crx = bytesOf(packages, '.crx');
  expect(bytesOf(await makePackages(OWN), '.crx').equals(crx)).toBe(true);
  expect(crx.toString('latin1', 0, 4)).toBe('Cr24');
  const zip = bytesOf(packages, '.zip');
  const header = crx.subarray(12, 12 + crx.readUInt32LE(8));
  expect(crx.subarray(12 + header.length).equals(zip)).toBe(true);
  const publicKey = createPublicKey(KEY);
  const der = publicKey.export({ type: 'spki', format: 'der' });
  const id = createHash('sha256').update(der).digest().subarray(0, 16);
  const letters = id
    .toString('hex')
    .replace(/./g, (digit) => 'abcdefghijklmnop'[Number.parseInt(digit, 16)] ?? '');
  expect(packages.chromiumId).toBe(letters);
  // The signature of an RSA key of 2048 bits has 256 bytes, and the signed part, with the id, ends the header.
  const signedHeader = header.subarray(-18);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(signedHeader.length);
  const signed = Buffer.concat([Buffer.from('CRX3 SignedData\0', 'latin1'), length, signedHeader, zip]);
  const signatureAt = header.indexOf(der) + der.length + 3;
  expect(verify('sha256', signed, publicKey, header.subarray(signatureAt, signatureAt + 256))).toBe(true);
});

it('refuses a copy of its own without a key', async () => {
  await expect(makePackages({ version: VERSION, updateBase: 'https://get.example' })).rejects.toThrow('key');
});
