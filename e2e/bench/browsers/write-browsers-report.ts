import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatBytes } from '@longhaul/shared';
import { LabRefusal } from '../../lab/refusal.ts';
import { escapeMarkdown, markdownTable } from '../../lab/report/markdown-table.ts';
import { counted, ratio } from '../../lab/report/numbers.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../../lab/report/run-items.ts';
import { readLineFile } from '../../lab/results/result-file.ts';
import { max, median, min, quantile } from '../../lab/results/statistics.ts';
import { BROWSER_CASES, type BrowserCase, type CaseGroup } from './browser-cases.ts';
import { BROWSER_KINDS, type BrowsersLine, browsersLineSchema } from './browsers-line.ts';

/** Where direct is best, the add-on may cost so much of it in the median, and at the 95th percentile. */
const MOST_MEDIAN = 1.02;
const MOST_P95 = 1.1;

/** Where direct is over sooner, moments of the browser's own are all that would be compared. */
const LEAST_COMPARED_MS = 200;

const GROUPS: Readonly<Record<CaseGroup, { readonly title: string; readonly text: string }>> = {
  taken: {
    title: 'What depots carry',
    text: 'The add-on takes the download over, and it comes through depots.',
  },
  left: {
    title: 'What is left alone',
    text: 'Direct is best here, or all there is: the add-on must cost nothing.',
  },
  broken: {
    title: 'What breaks meanwhile',
    text: 'Where depots or masters break, a browser without the add-on notices nothing; where the network or the browser does, nobody there goes on.',
  },
};

type Browser = BrowsersLine['browser'];

/** Makes the page of the browsers from its lines, `<date>-browsers.md`. Throws a refusal when there are none. */
export function writeBrowsersReport(request: { readonly resultFile: string; readonly outFolder: string }): {
  readonly page: string;
} {
  const { resultFile, outFolder } = request;
  const { info, lines } = readLineFile(resultFile, browsersLineSchema);
  if (lines.length === 0)
    throw new LabRefusal('lab-result-file', `${resultFile} holds no run: let one come to its end.`);
  const browsers = BROWSER_KINDS.filter((kind) => lines.some(({ browser }) => browser === kind));
  const cases = BROWSER_CASES.filter(({ id }) => lines.some((line) => line.case === id));
  const groups = (Object.keys(GROUPS) as CaseGroup[]).filter((group) =>
    cases.some((one) => one.group === group),
  );
  const loads = lines.map(({ load }) => load);
  const parts = [
    `# Browsers: ${counted(cases.length, 'case')}, with the add-on and without it`,
    'What does a user gain, what does he never lose, and what does he see?',
    '## What is seen',
    bulletList(browsers.flatMap((browser) => findings(browser, cases, lines))),
    '## How it was measured',
    bulletList([
      'Two browsers of a kind, one with the add-on and one without it, before the same master, three depots and origin on one machine, each case by turns in a drawn order; all figures are medians. The origin sends each answer at 10 Mbit/s to browsers and at 16 to depots; what breaks at 10 to both, and what is only the browser’s own at 16',
      'From the click, by the page’s clock, to the first byte on disk and to the whole file under its name, looked for every 10 ms; what is begun from a menu from the origin’s first byte on. Where direct takes less than 200 ms nothing is compared. A slash: that it never came to that',
      'Twice: bytes that the origin sent in all, to the browser and to depots, beyond those of the file; what was on its way when a connection ended counts',
      commandItem(info),
      momentsItem(info),
      machineItem(info),
      `Browsers: ${browsers.map((browser) => `${nameOf(browser)} ${[...new Set(lines.filter((line) => line.browser === browser).map(({ version }) => version))].join(', ')}`).join(', ')}`,
      `Load of the machine: ${min(loads)} to ${max(loads)}`,
    ]),
    ...browsers.flatMap((browser) => groups.flatMap((group) => section(browser, group, cases, lines))),
    '## What the popup says',
    ...browsers.flatMap((browser) => [
      `### ${nameOf(browser)}`,
      bulletList(saidItems(browser, cases, lines)),
    ]),
  ];
  mkdirSync(outFolder, { recursive: true });
  const page = join(outFolder, `${info.startedAt.slice(0, 10)}-browsers.md`);
  writeFileSync(page, `${parts.join('\n\n')}\n`);
  return { page };
}

type Lines = readonly BrowsersLine[];

function findings(browser: Browser, cases: readonly BrowserCase[], all: Lines): readonly string[] {
  const lines = all.filter((line) => line.browser === browser);
  const name = nameOf(browser);
  const of = (group: CaseGroup) =>
    lines.filter((line) => cases.some((one) => one.id === line.case && one.group === group));
  const left = ratios(of('left'));
  const taken = ratios(of('taken'));
  const whole = (way: BrowsersLine['way']) => {
    const own = of('broken').filter((line) => line.way === way);
    return `${own.filter(isWhole).length} of ${own.length}`;
  };
  const helped = lines.filter(({ way }) => way === 'longhaul');
  const [atMedian, atP95] = [median(left), quantile(left, 0.95)];
  return [
    `${name}: ${helped.filter(isWhole).length} of ${helped.length} downloads with the add-on ended as the whole file, equal byte by byte`,
    ...(taken.length > 0
      ? [
          `${name}: through depots in ${ratio(median(taken))} of the time of direct, in the median over cases and repeats`,
        ]
      : []),
    ...(left.length > 0
      ? [
          `${name}: what is left alone takes ${ratio(atMedian)} of direct in the median (at most ${MOST_MEDIAN}: ${verdict(atMedian <= MOST_MEDIAN)}) and ${ratio(atP95)} at p95 (at most ${MOST_P95.toFixed(2)}: ${verdict(atP95 <= MOST_P95)})`,
        ]
      : []),
    ...(of('broken').length > 0
      ? [
          `${name}: of what breaks meanwhile ${whole('longhaul')} end as whole files, without the add-on ${whole('direct')}`,
        ]
      : []),
  ];
}

/** The end of each download with the add-on by the end of the one without it of the same repeat. */
function ratios(lines: Lines): readonly number[] {
  return lines
    .filter(({ way }) => way === 'longhaul')
    .flatMap((helped) => {
      const direct = lines.find(
        ({ way, case: id, repeat }) => way === 'direct' && id === helped.case && repeat === helped.repeat,
      );
      const directMs = direct?.endMs ?? 0;
      return helped.endMs !== null && directMs >= LEAST_COMPARED_MS ? [helped.endMs / directMs] : [];
    });
}

const isWhole = ({ endMs, isEqual }: BrowsersLine): boolean => endMs !== null && isEqual;

const verdict = (isMet: boolean): string => (isMet ? 'met' : 'missed');

const nameOf = (browser: Browser): string => (browser === 'chromium' ? 'Chromium' : 'Firefox');

function section(
  browser: Browser,
  group: CaseGroup,
  cases: readonly BrowserCase[],
  all: Lines,
): readonly string[] {
  const { title, text } = GROUPS[group];
  const rows = cases
    .filter((one) => one.group === group)
    .map((one) =>
      row(
        one,
        all.filter((line) => line.browser === browser && line.case === one.id),
      ),
    );
  const head = [
    'case',
    'first byte',
    'direct',
    'end',
    'direct',
    'of direct',
    'twice',
    'direct',
    'whole',
    'direct',
  ];
  return [
    `## ${nameOf(browser)}: ${title.slice(0, 1).toLowerCase()}${title.slice(1)}`,
    text,
    markdownTable(head, rows),
  ];
}

function row({ title }: BrowserCase, lines: Lines): readonly string[] {
  const ways = [lines.filter(({ way }) => way === 'longhaul'), lines.filter(({ way }) => way === 'direct')];
  const both = (tell: (lines: Lines) => string) => ways.map(tell);
  if (lines.length === 0) return [title, ...Array<string>(8).fill(''), 'cannot be driven'];
  return [
    title,
    ...both((own) => seconds(own.map(({ firstByteMs }) => firstByteMs))),
    ...both((own) => seconds(own.map(({ endMs }) => endMs))),
    ratios(lines).length > 0 ? ratio(median(ratios(lines))) : '/',
    ...both((own) => formatBytes(median(own.map(twiceBytes)))),
    ...both((own) => `${own.filter(isWhole).length} of ${own.length}`),
  ];
}

/** The median; a time that never came is longer than all others. */
function seconds(timesMs: readonly (number | null)[]): string {
  const middle = median(timesMs.map((ms) => ms ?? Infinity));
  return Number.isFinite(middle) ? `${(middle / 1000).toFixed(2)} s` : '/';
}

function twiceBytes({ toBrowserBytes, toDepotsBytes, sizeBytes }: BrowsersLine): number {
  return Math.max(0, toBrowserBytes + toDepotsBytes - sizeBytes);
}

function saidItems(browser: Browser, cases: readonly BrowserCase[], lines: Lines): readonly string[] {
  return cases.flatMap(({ id, title }) => {
    const last = lines.findLast(
      (line) => line.browser === browser && line.case === id && line.way === 'longhaul',
    );
    if (!last) return [];
    const files = last.files.length === 1 ? '' : ` (${counted(last.files.length, 'file')} in the folder)`;
    return [`${title}: ${last.said === '' ? 'nothing' : escapeMarkdown(last.said)}${files}`];
  });
}
