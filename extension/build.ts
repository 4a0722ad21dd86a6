/** Builds the add-on. Run as a program it builds the packages for both browsers, without any default. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'vite';
import { drawIcon } from './icons/draw-icon.ts';
import { leanAddresses } from './lean-addresses.ts';
import { namedIn, requireSentences, withoutUnheard } from './lean-texts.ts';
import { ICON_SIZES, manifest, TARGETS, type Target } from './src/manifest.ts';
import type { BuildDefaults } from './src/settings/build-defaults.ts';
import { LANGUAGES, type Language, messagesOf } from './src/texts/texts.ts';

export interface BuildOptions {
  /** Folder for the unpacked add-on; it is emptied first. */
  readonly outDir: string;
  readonly target: Target;
  /** Settings that this build brings along. */
  readonly defaults?: Partial<BuildDefaults>;
  /** The one language that it speaks, whatever the browser's is; left out, all of them. */
  readonly language?: Language;
  /** Where an organisation serves its own copy and its updates. */
  readonly updateBase?: string;
}

const TARGET_BROWSERS = ['chrome126', 'firefox142'];

/**
 * Those who review an add-on want to read it: names stay. Comments and blanks, which the sources have, and
 * statements at length would make the package larger than 100 kB.
 */
const READABLE = {
  comments: { legal: true, annotation: false, jsdoc: false },
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
} as const;

/** Builds the unpacked add-on for one browser. */
export async function buildExtension({
  outDir,
  target,
  defaults = {},
  language,
  updateBase,
}: BuildOptions): Promise<void> {
  const buildDefaults: BuildDefaults = { master: '', privateHosts: [], ...defaults };
  await build({
    configFile: false,
    envDir: false,
    root: join(import.meta.dirname, 'src', 'pages'),
    base: './',
    publicDir: false,
    logLevel: 'warn',
    define: {
      __LONGHAUL_DEFAULTS__: JSON.stringify(buildDefaults),
      __LONGHAUL_TARGET__: JSON.stringify(target),
    },
    plugins: [leanAddresses(), await packaging(target, updateBase, language)],
    build: {
      outDir,
      emptyOutDir: true,
      target: TARGET_BROWSERS,
      modulePreload: false,
      minify: false,
      cssMinify: true,
      rolldownOptions: {
        // Descriptions of messages that the add-on does not read are left out.
        treeshake: { manualPureFunctions: ['z'] },
        input: {
          background: join(import.meta.dirname, 'src', 'background.ts'),
          popup: join(import.meta.dirname, 'src', 'pages', 'popup.html'),
          options: join(import.meta.dirname, 'src', 'pages', 'options.html'),
          welcome: join(import.meta.dirname, 'src', 'pages', 'welcome.html'),
        },
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: '[name].js',
          assetFileNames: '[name][extname]',
          // One name for a thing in all files: shorter than two of which one is a letter, and readable.
          minifyInternalExports: false,
          // What several of them need, in one file: each further one costs the package a hundred bytes and
          // more. Scripts of pages stay with their styles, whose order is that of the files.
          codeSplitting: {
            groups: [
              {
                name: 'common',
                test: /^(?!.*\/src\/pages\/(?!explain|fill|master)).*\.ts$/,
                minShareCount: 2,
              },
            ],
          },
          ...READABLE,
        },
      },
    },
  });
  await buildPageScript(outDir);
}

/** What runs in pages, as one classic script. */
async function buildPageScript(outDir: string): Promise<void> {
  await build({
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'warn',
    build: {
      outDir,
      emptyOutDir: false,
      target: TARGET_BROWSERS,
      minify: false,
      rolldownOptions: { output: READABLE },
      lib: {
        entry: join(import.meta.dirname, 'src', 'in-pages', 'held-key.ts'),
        formats: ['iife'],
        name: 'longhaulHeldKey',
        fileName: () => 'held-key.js',
      },
    },
  });
}

async function packaging(
  target: Target,
  updateBase: string | undefined,
  language: Language | undefined,
): Promise<Plugin> {
  const packageText = await readFile(join(import.meta.dirname, 'package.json'), 'utf8');
  const { version } = JSON.parse(packageText) as { version: string };
  return {
    name: 'longhaul-package',
    // Browsers need neither blanks before lines and ends of tags nor, for an add-on's own files, `crossorigin`.
    transformIndexHtml: {
      order: 'post',
      handler: (html) =>
        html.replaceAll(/\n\s+/g, '\n').replaceAll(' crossorigin', '').replaceAll(' />', '/>'),
    },
    renderChunk: withoutUnheard,
    generateBundle: {
      // The pages are there by then.
      order: 'post',
      handler(_options, bundle) {
        const files = Object.values(bundle);
        const scripts = files.flatMap((file) => (file.type === 'chunk' ? [file.code] : []));
        const pages = files.flatMap((file) => (file.type === 'asset' ? [String(file.source)] : []));
        requireSentences(scripts);
        const source = JSON.stringify(manifest(target, version, updateBase, language));
        this.emitFile({ type: 'asset', fileName: 'manifest.json', source });
        const isNamed = namedIn(scripts, [...pages, source]);
        const languages = language === undefined ? (Object.keys(LANGUAGES) as Language[]) : [language];
        for (const spoken of languages) {
          // Keys that begin alike pack best beside each other.
          const messages = Object.entries(messagesOf(LANGUAGES[spoken]))
            .filter(([key]) => isNamed(key))
            .toSorted(([one], [other]) => (one < other ? -1 : 1));
          const fileName = `_locales/${spoken}/messages.json`;
          this.emitFile({ type: 'asset', fileName, source: JSON.stringify(Object.fromEntries(messages)) });
        }
        for (const size of ICON_SIZES) {
          this.emitFile({ type: 'asset', fileName: `icon-${size}.png`, source: drawIcon(size) });
        }
      },
    },
  };
}

if (process.argv[1] === import.meta.filename) {
  for (const target of TARGETS) {
    await buildExtension({ outDir: join(import.meta.dirname, 'dist', target), target });
  }
}
