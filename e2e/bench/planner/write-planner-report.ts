import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatBytes } from '@longhaul/shared';
import { LabRefusal } from '../../lab/refusal.ts';
import { markdownTable } from '../../lab/report/markdown-table.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../../lab/report/run-items.ts';
import { readLineFile } from '../../lab/results/result-file.ts';
import { max, median } from '../../lab/results/statistics.ts';
import { PLANNER_CASE_IDS, PLANNER_CASES, SIZES } from './planner-case.ts';
import { plannerLineSchema } from './planner-line.ts';

/** Makes the page of a planner benchmark from its lines, `<date>-planner.md`. Throws a refusal when there are none. */
export function writePlannerReport(request: { readonly resultFile: string; readonly outFolder: string }): {
  readonly page: string;
} {
  const { resultFile, outFolder } = request;
  const { info, lines } = readLineFile(resultFile, plannerLineSchema);
  if (lines.length === 0)
    throw new LabRefusal('lab-result-file', `${resultFile} holds no run: let one come to its end.`);
  const ids = PLANNER_CASE_IDS.filter((id) => lines.some((line) => line.case === id));
  const coldOf = (id: string) => lines.filter((line) => line.case === id).map(({ coldMs }) => coldMs);
  const parts = [
    '# Planner: how long one plan takes',
    'How long is the event loop busy with one plan that nothing is kept for but what links say?',
    '## What is seen',
    bulletList(
      ids.map((id) => {
        const { text, mostMs } = PLANNER_CASES[id];
        const middle = median(coldOf(id));
        return `${text}: at most ${mostMs} ms promised, ${middle.toFixed(2)} ms in the median (worst ${max(coldOf(id)).toFixed(2)}), ${middle <= mostMs ? 'met' : 'missed'}`;
      }),
    ),
    '## How it was measured',
    bulletList([
      'Overlays drawn on a map, another one in each repeat, with client and origin at its sides; chains of up to four depots, up to eight lanes; the sixteen fastest are ranked again by expected time. The least of twenty plans counts, after others that make Node compile it',
      'That no chain is missed is a test against trying every chain (`master-service/src/planning/search/chain-search.test.ts`)',
      `The yardstick, a hundred thousand logarithms, took ${median(lines.map(({ yardstickMs }) => yardstickMs)).toFixed(2)} ms in the median`,
      commandItem(info),
      momentsItem(info),
      machineItem(info),
      `Load of the machine: ${Math.min(...lines.map(({ load }) => load))} to ${max(lines.map(({ load }) => load))}`,
    ]),
    '## The plans',
    markdownTable(
      ['overlay', 'file', 'n', 'plan', 'worst', 'with three alternatives'],
      ids.flatMap((id) =>
        SIZES.map((sizeBytes) => {
          const own = lines.filter((line) => line.case === id && line.sizeBytes === sizeBytes);
          const cold = own.map(({ coldMs }) => coldMs);
          const more = own.map(({ withAlternativesMs }) => withAlternativesMs);
          const cells = [median(cold), max(cold), median(more)].map((ms) => `${ms.toFixed(2)} ms`);
          return [PLANNER_CASES[id].text, formatBytes(sizeBytes), String(own.length), ...cells];
        }),
      ),
      { textColumns: 1 },
    ),
  ];
  mkdirSync(outFolder, { recursive: true });
  const page = join(outFolder, `${info.startedAt.slice(0, 10)}-planner.md`);
  writeFileSync(page, `${parts.join('\n\n')}\n`);
  return { page };
}
