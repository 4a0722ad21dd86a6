import { markdownTable } from '../../lab/report/markdown-table.ts';
import type { AttackLine } from '../run/attack-line.ts';

/** What came of each strike: a row each. */
export function resultTable(lines: readonly AttackLine[]): string {
  const head = [
    'attack',
    'world',
    'refused with',
    'cases',
    'bystander, median',
    'p95',
    'memory of the worst, MB',
    'kernel, MB',
    'descriptors',
    'holds',
  ];
  return markdownTable(head, lines.map(rowOf), { textColumns: 3 });
}

/** Codes that are named for one strike. */
const MOST_CODES = 4;

function rowOf(line: AttackLine): string[] {
  const { attack, world, refusals, cases, bystander, services, failures, notJudged } = line;
  const codes = Object.entries(refusals).toSorted(([, one], [, other]) => other - one);
  const named = codes.slice(0, MOST_CODES).map(([code, count]) => `${code} ${count}`);
  const growth = ({ before, peak }: (typeof services)[string]) => peak.rssBytes - before.rssBytes;
  const [worst] = Object.values(services).toSorted((one, other) => growth(other) - growth(one));
  const way = (pick: (look: NonNullable<typeof worst>['before']) => number, unit: number) =>
    worst
      ? [worst.before, worst.peak, worst.after].map((look) => Math.round(pick(look) / unit)).join(' → ')
      : '';
  return [
    attack,
    world,
    [...named, ...(codes.length > MOST_CODES ? ['…'] : [])].join(', '),
    String(cases),
    bystander.median.toFixed(2),
    bystander.p95.toFixed(2),
    way(({ rssBytes }) => rssBytes, 1e6),
    way(({ socketBytes }) => socketBytes, 1e6),
    way(({ descriptors }) => descriptors, 1),
    failures.length > 0 ? '**no**' : notJudged.length > 0 ? 'times not judged' : 'yes',
  ];
}
