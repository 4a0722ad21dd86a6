import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { writeAttackReport } from '../attack/report/write-attack-report.ts';
import { writeBrowsersReport } from '../bench/browsers/write-browsers-report.ts';
import { writeFactsReport } from '../bench/facts/write-facts-report.ts';
import { writeOverloadReport } from '../bench/overload/write-overload-report.ts';
import { writePlannerReport } from '../bench/planner/write-planner-report.ts';
import { writePrefixesReport } from '../bench/prefixes/write-prefixes-report.ts';
import { writeRedirectReport } from '../bench/redirect/write-redirect-report.ts';
import { writeRelayReport } from '../bench/report/write-relay-report.ts';
import { casesFileOf, heldFileOf } from '../bench/run/held-file.ts';
import { writeSoakReport } from '../bench/soak/write-soak-report.ts';
import { reportResults } from '../lab/report-results.ts';

type Make = (resultFile: string, outFolder: string) => string;

/** What makes a page of the lines of one file that are not the lab's, by its name. */
const MAKERS = {
  relay: (resultFile, outFolder) => writeRelayReport({ resultFile, outFolder }).page,
  soak: (resultFile, outFolder) => writeSoakReport({ resultFile, outFolder }).page,
  attack: writeAttackReport,
  browsers: (resultFile, outFolder) => writeBrowsersReport({ resultFile, outFolder }).page,
  overload: (resultFile, outFolder) => writeOverloadReport({ resultFile, outFolder }).page,
  facts: (resultFile, outFolder) => writeFactsReport({ resultFile, outFolder }).page,
  planner: (resultFile, outFolder) => writePlannerReport({ resultFile, outFolder }).page,
  prefixes: (resultFile, outFolder) => writePrefixesReport({ resultFile, outFolder }).page,
  redirect: (resultFile, outFolder) => writeRedirectReport({ resultFile, outFolder }).page,
} satisfies Record<string, Make>;
type Maker = keyof typeof MAKERS;

/** Which page was made of which lines. */
const pagesSchema = z.strictObject({
  pages: z.array(
    z.strictObject({
      /** Below the folder of results. */
      page: z.string(),
      /** What makes it of its lines; `hand`: somebody wrote it, and links to the lines that its figures are from. */
      by: z.enum(['lab', 'hand', ...(Object.keys(MAKERS) as Maker[])]),
      /** Below `data`. */
      data: z.array(z.string()),
    }),
  ),
  /** The lines of the table in the repository's README, and the page that shows them. */
  readme: z.strictObject({ page: z.string(), data: z.array(z.string()) }),
});

export type PublishedPages = z.infer<typeof pagesSchema>;
type PublishedPage = PublishedPages['pages'][number];

/** The list of a folder of results, `pages.json`. Throws when it is missing or not such a list. */
export function readPublishedPages(folder: string): PublishedPages {
  return pagesSchema.parse(JSON.parse(readFileSync(join(folder, 'pages.json'), 'utf8')));
}

/**
 * Holds every page of a folder against the lines that it names: what is made of lines must be what these
 * lines make today. With `isFix` pages and charts are made anew, and charts that belong to none are removed.
 * Gives what is wrong, as sentences.
 */
export function checkPublishedPages(folder: string, isFix: boolean): string[] {
  const { pages } = readPublishedPages(folder);
  const fresh = mkdtempSync(join(tmpdir(), 'longhaul-pages-'));
  try {
    return [
      ...pages.flatMap((page) => missingData(folder, page)),
      ...pages.flatMap((page) => remade(folder, fresh, page)),
      ...differences(folder, fresh, isFix),
      ...unnamed(folder, pages),
      ...strayPictures(folder, fresh, isFix),
      ...pages.flatMap((page) => unlinked(folder, page)),
    ];
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function missingData(folder: string, { page, data }: PublishedPage): string[] {
  return data
    .filter((name) => !existsSync(join(folder, 'data', name)))
    .map((name) => `${page} is said to be made of data/${name}, which is not there`);
}

function remade(folder: string, fresh: string, entry: PublishedPage): string[] {
  const files = entry.data.map((name) => join(folder, 'data', name));
  if (entry.by === 'hand' || !files.every((file) => existsSync(file))) return [];
  const made = make(entry, files, fresh);
  return made === join(fresh, entry.page)
    ? []
    : [`the data of ${entry.page} make another page, ${made.slice(fresh.length + 1)}`];
}

/** Makes a page as its program does; gives its path. */
function make({ by }: PublishedPage, files: readonly string[], outFolder: string): string {
  const [resultFile = ''] = files;
  return by === 'lab' || by === 'hand' ? reportResults(files, outFolder) : MAKERS[by](resultFile, outFolder);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function differences(folder: string, fresh: string, isFix: boolean): string[] {
  return filesBelow(fresh).flatMap((name) => {
    const wanted = readFileSync(join(fresh, name), 'utf8');
    const path = join(folder, name);
    if (existsSync(path) && readFileSync(path, 'utf8') === wanted) return [];
    if (!isFix) return [`${name} is not what its lines make`];
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, wanted);
    return [];
  });
}

/** A page that nobody says the lines of, and lines that no page shows. */
function unnamed(folder: string, pages: readonly PublishedPage[]): string[] {
  const known = new Set(pages.map(({ page }) => page));
  const shown = new Set(
    pages.flatMap(({ data }) => data.flatMap((name) => [name, heldFileOf(name), casesFileOf(name)])),
  );
  const here = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md');
  const lines = readdirSync(join(folder, 'data')).filter((name) => name.endsWith('.jsonl'));
  return [
    ...here.filter((name) => !known.has(name)).map((name) => `${name} names no lines: list it in pages.json`),
    ...lines.filter((name) => !shown.has(name)).map((name) => `no page shows data/${name}`),
  ];
}

function strayPictures(folder: string, fresh: string, isFix: boolean): string[] {
  const pictures = join(folder, 'pictures');
  if (!existsSync(pictures)) return [];
  const stray = readdirSync(pictures).filter((name) => !existsSync(join(fresh, 'pictures', name)));
  if (!isFix) return stray.map((name) => `pictures/${name} belongs to no page`);
  for (const name of stray) rmSync(join(pictures, name));
  return [];
}

/** The index leads to every page, and a page by hand to its lines. */
function unlinked(folder: string, { page, by, data }: PublishedPage): string[] {
  const path = join(folder, page);
  if (!existsSync(path)) return [`${page} is listed and not there`];
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  const text = readFileSync(path, 'utf8');
  const silent = by === 'hand' ? data.filter((name) => !text.includes(`(data/${name})`)) : [];
  return [
    ...(index.includes(`](${page})`) ? [] : [`README.md of the results does not lead to ${page}`]),
    ...silent.map((name) => `${page} does not link to data/${name}`),
  ];
}
