import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished } from 'vitest';
import { buildExtension } from '../build.ts';
import { manifest, TARGETS } from './manifest.ts';
import { LANGUAGES } from './texts/texts.ts';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'longhaul-build-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const scripts = async (folder: string): Promise<string> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('\n');
};

/** The printer of the build writes texts as templates. */
function defaultsIn(code: string): unknown {
  const literal = /buildDefaults=(\{[^}]*\})/.exec(code)?.[1] ?? 'null';
  // Objects of another context are no equals of ours.
  return JSON.parse(runInNewContext(`JSON.stringify(${literal})`) as string);
}

it.each(TARGETS)(
  'builds an add-on for %s in which every file that the manifest names exists',
  async (target) => {
    const outDir = await temporaryFolder();
    await buildExtension({ outDir, target });
    const text = await readFile(join(outDir, 'manifest.json'), 'utf8');
    const files = await readdir(outDir);
    for (const [, name] of text.matchAll(/"([\w-]+\.(?:js|html|png))"/g)) expect(files).toContain(name);
    expect(JSON.parse(text)).toEqual(manifest(target, '0.1.0'));
  },
);

it('runs one file in pages, which loads no other', async () => {
  const outDir = await temporaryFolder();
  await buildExtension({ outDir, target: 'chrome' });
  const script = await readFile(join(outDir, 'held-key.js'), 'utf8');
  expect(script).toContain('isTrusted');
  expect(script).not.toMatch(/^\s*(import|export)\b/m);
});

it('carries no default in a package, no code made from text, and nothing from elsewhere', async () => {
  const outDir = await temporaryFolder();
  await buildExtension({ outDir, target: 'chrome' });
  const code = await scripts(outDir);
  expect(defaultsIn(code)).toEqual({ master: '', privateHosts: [] });
  expect(code).not.toMatch(/new Function|\beval\(|import\("http/);
});

it.each([
  ['chrome', /FindProxyForURL|onAuthRequired/, /proxyAuthorizationHeader|connectionIsolationKey|tunnelSites/],
  ['firefox', /proxyAuthorizationHeader|connectionIsolationKey/, /FindProxyForURL|onAuthRequired|pac_script/],
] as const)(
  'leaves out of the package for %s how the other browser reaches tunnels',
  async (target, own, others) => {
    const outDir = await temporaryFolder();
    await buildExtension({ outDir, target });
    const code = await scripts(outDir);
    expect(code).toMatch(own);
    expect(code).not.toMatch(others);
  },
);

it('speaks all its languages, or the one that it was built for', async () => {
  const outDir = await temporaryFolder();
  await buildExtension({ outDir, target: 'chrome' });
  expect((await readdir(join(outDir, '_locales'))).toSorted()).toEqual(Object.keys(LANGUAGES).toSorted());
  await buildExtension({ outDir, target: 'chrome', language: 'vi' });
  expect(await readdir(join(outDir, '_locales'))).toEqual(['vi']);
  const made = JSON.parse(await readFile(join(outDir, 'manifest.json'), 'utf8'));
  expect(made).toMatchObject({ default_locale: 'vi' });
});

it.each([
  ['chrome', ['leftDepotTaken', 'leftSystemProxy'], ['leftContainer', 'leftSocks', 'tunnelNotAllowed']],
  ['firefox', ['leftContainer', 'leftSocks', 'tunnelNotAllowed'], ['leftDepotTaken', 'leftSystemProxy']],
] as const)(
  'has in the package for %s every sentence that it names, and none of what only the other browser meets',
  async (target, own, others) => {
    const outDir = await temporaryFolder();
    await buildExtension({ outDir, target });
    const names = (await readdir(outDir)).filter((name) => /\.(js|html|json)$/.test(name));
    const files = await Promise.all(names.map((name) => readFile(join(outDir, name), 'utf8')));
    const named = Object.keys(LANGUAGES.en).filter((key) =>
      files.some((file) => new RegExp(`["'\`]${key}["'\`]|__MSG_${key}__`).test(file)),
    );
    expect(named.length).toBeGreaterThan(150);
    for (const language of Object.keys(LANGUAGES)) {
      const messages = await readFile(join(outDir, '_locales', language, 'messages.json'), 'utf8');
      const keys = Object.keys(JSON.parse(messages) as object);
      expect(keys).toEqual(expect.arrayContaining([...named, ...own]));
      for (const other of others) expect(keys).not.toContain(other);
    }
  },
);

it('brings the defaults of a local overlay along', async () => {
  const outDir = await temporaryFolder();
  const defaults = { master: 'http://127.0.0.1:4321', privateHosts: ['127.0.0.1:4322'] };
  await buildExtension({ outDir, target: 'firefox', defaults });
  expect(defaultsIn(await scripts(outDir))).toEqual(defaults);
});

it('asks for no more than it uses: downloads, storage, requests, alarms, menus, notices, its script for a held key, and the web', () => {
  const permissions = [
    'downloads',
    'storage',
    'webRequest',
    'alarms',
    'contextMenus',
    'notifications',
    'scripting',
  ];
  const common = { host_permissions: ['http://*/*', 'https://*/*'], incognito: 'not_allowed' };
  const leading = 'declarativeNetRequestWithHostAccess';
  const forTunnels = ['proxy', 'webRequestAuthProvider'];
  const ofChrome = [...permissions, leading, ...forTunnels];
  expect(manifest('chrome', '1')).toMatchObject({ ...common, permissions: ofChrome });
  const holding = [...permissions, leading, 'webRequestBlocking'];
  expect(manifest('firefox', '1')).toMatchObject({ ...common, permissions: holding });
});

it('asks for the permission to set proxies only when a site is to go through a tunnel, where the browser can', () => {
  expect(manifest('firefox', '1')).toMatchObject({ optional_permissions: ['proxy'] });
  expect(manifest('chrome', '1')).not.toHaveProperty('optional_permissions');
});
