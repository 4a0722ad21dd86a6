import type { Run } from '../results/join-results.ts';
import { max, median, quantile } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { byScenario, type Cell, creditedBps, isFailed, isLate, LATE_MS } from './cells.ts';
import { escapeMarkdown, inlineCode, markdownTable } from './markdown-table.ts';
import { counted, mbps, milliseconds } from './numbers.ts';
import type { Section } from './page-parts.ts';

/** More failures than these are counted, not listed. */
const MOST_LISTED_FAILURES = 40;

/**
 * How busy the machine was while lines were measured: said beside tables that are read without the rest of
 * their page.
 */
export function busySentence(lines: readonly TransferLine[]): string {
  const load = `The machine’s load was ${median(lines.map((line) => line.load)).toFixed(1)} in the median meanwhile`;
  const lateIn = (some: readonly TransferLine[]) => some.filter(isLate).length;
  if (lateIn(lines) === 0) return `${load}, and no packet left the emulator more than ${LATE_MS} ms late.`;
  const repeats = [...Map.groupBy(lines, ({ repeat }) => repeat).values()].map(lateIn);
  const spread = repeats.length > 1 ? `: ${Math.min(...repeats)} to ${max(repeats)} of each repeat` : '';
  return `${load}, and in ${lateIn(lines)} of ${counted(lines.length, 'transfer')} packets left the emulator more than ${LATE_MS} ms late${spread}.`;
}

/** How far the measurement itself can be trusted: lateness, load, cuts, failures, and the spread of every cell. */
export function trustSection(cells: readonly Cell[], runs: readonly Run[]): Section {
  return {
    title: 'How far to trust it',
    text: [
      latenessSentence(cells),
      dropSentence(cells),
      failureSentence(cells),
      wayChangeSentence(cells),
      otherLabsSentence(runs),
    ].filter(Boolean),
    tables: [runTable(cells), ...failureList(cells), spreadTable(cells)],
  };
}

function latenessSentence(cells: readonly Cell[]): string {
  const lines = cells.flatMap((cell) => cell.lines);
  const late = lines.filter(isLate);
  const worst = max(lines.map((line) => line.latenessMs));
  // A packet that comes in while the emulator stalls waits in its device, and nobody sees for how long.
  const blind = lines.every(({ deviceDrops }) => deviceDrops !== undefined)
    ? 'What a packet waited in its device while the emulator did not look is counted.'
    : 'This is measured where the emulator hands packets out: what a packet waited in its device before the emulator took it is not counted.';
  if (late.length === 0) {
    return `Packets left the emulator at most ${milliseconds(worst)} ms late; no transfer is marked. ${blind}`;
  }
  const said = `In ${late.length} of ${counted(lines.length, 'transfer')} packets left the emulator at least once more than ${LATE_MS} ms late, at worst ${milliseconds(worst)} ms: such a stall is a spike of delay. ${blind} Cells with such transfers bear a star (*), and charts of single transfers draw these hollow.`;
  return `${said} ${changeWithoutLate(cells)}`;
}

/** Said where drops of devices were looked at: an emulated link loses what it is told to, and nothing else may. */
function dropSentence(cells: readonly Cell[]): string {
  const lines = cells.flatMap((cell) => cell.lines);
  const looked = lines.filter(({ deviceDrops }) => deviceDrops !== undefined);
  if (looked.length === 0) return '';
  const dropping = looked.filter(({ deviceDrops = 0 }) => deviceDrops > 0);
  if (dropping.length === 0)
    return `No device dropped a packet of its own in ${counted(looked.length, 'transfer')}: all losses are the links’.`;
  const most = max(dropping.map(({ deviceDrops = 0 }) => deviceDrops));
  const where = [
    ...new Set(dropping.map(({ scenario, variant }) => `${inlineCode(variant)} in ${inlineCode(scenario)}`)),
  ];
  return `**In ${dropping.length} of ${counted(looked.length, 'transfer')} devices dropped packets of their own**, at most ${most} (${where.join(', ')}); such transfers are marked.`;
}

/** Said only when there were others: labs share processors, and with them lateness. */
function otherLabsSentence(runs: readonly Run[]): string {
  const most = Math.max(
    0,
    ...runs.flatMap(({ info }) => [info.otherLabs?.atStart ?? 0, info.otherLabs?.atEnd ?? 0]),
  );
  const overlap = runs.some((run, at) => runs.slice(at + 1).some((later) => isBeforeEnd(later, run)));
  const sentences = [
    most > 0
      ? `Up to ${counted(most, 'other lab')} lived on the same machine when a run was begun or ended, and took part of its processors.`
      : '',
    overlap ? 'Runs of this page overlapped in time; on one machine they slowed each other down.' : '',
  ];
  return sentences.filter(Boolean).join(' ');
}

function isBeforeEnd(later: Run, earlier: Run): boolean {
  const end = earlier.info.finishedAt ?? earlier.info.startedAt;
  return later.info.startedAt < end;
}

/** How much the medians owe to the late transfers. */
function changeWithoutLate(cells: readonly Cell[]): string {
  const touched = cells.filter(({ lines }) => lines.some(isLate));
  const checked = touched.flatMap((cell) => {
    const punctual = cell.lines.filter((line) => !isLate(line)).map(creditedBps);
    const change = Math.abs(median(punctual) / median(cell.goodputsBps) - 1);
    return Number.isFinite(change) ? [{ cell, change }] : [];
  });
  const unchecked = touched.length - checked.length;
  const rest =
    unchecked > 0 ? ` ${counted(unchecked, 'cell')} cannot be checked so: no punctual transfer is left.` : '';
  const largest = checked.toSorted((a, b) => b.change - a.change)[0];
  if (!largest) return rest.trim();
  const where = `${inlineCode(largest.cell.variant.id)} in ${inlineCode(largest.cell.scenario.id)}`;
  return `Without them the medians would change by up to ${(largest.change * 100).toFixed(0)} % (${where}).${rest}`;
}

function failureSentence(cells: readonly Cell[]): string {
  const lines = cells.flatMap((cell) => cell.lines);
  const failed = lines.filter(isFailed).length;
  const cut = lines.filter((line) => line.cut).length;
  const whole = lines.filter((line) => line.sha256Ok === true).length;
  const right = lines.filter((line) => line.cut && !isFailed(line)).length;
  const checked = `${whole} of ${counted(lines.length, 'transfer')} brought the whole file, byte by byte as at the origin`;
  const cuts =
    cut > 0 ? `; ${cut} ${cut === 1 ? 'was' : 'were'} cut, of which ${right} had right bytes so far` : '';
  const failures = failed > 0 ? `; **${failed} failed** and count as 0 Mbit/s` : '; none failed';
  return `${checked}${cuts}${failures}.`;
}

/** Said where depots were asked: a transfer that has left its plan says little about that plan. */
function wayChangeSentence(cells: readonly Cell[]): string {
  const asked = cells.flatMap((cell) => cell.lines).filter(({ wayChanges }) => wayChanges !== undefined);
  const left = asked.filter(({ wayChanges = 0 }) => wayChanges > 0);
  if (asked.length === 0) return '';
  if (left.length === 0)
    return `${counted(asked.length, 'transfer')} through depots came by the way that was planned, from the first byte to the last.`;
  const where = [
    ...new Set(left.map(({ scenario, variant }) => `${inlineCode(variant)} in ${inlineCode(scenario)}`)),
  ];
  return `**${left.length} of ${counted(asked.length, 'transfer')} through depots left the planned way** (${where.join(', ')}), and count all the same.`;
}

function runTable(cells: readonly Cell[]): string {
  const head = [
    'scenario',
    'transfers',
    'cut',
    'failed',
    'late',
    'lateness, median ms',
    'worst ms',
    'load, median',
    'most',
  ];
  const rows = byScenario(cells).map(([scenario, ...own]) => {
    const lines = own.flatMap((cell) => cell.lines);
    const lateness = lines.map((line) => line.latenessMs);
    const loads = lines.map((line) => line.load);
    return [
      inlineCode(scenario.id),
      String(lines.length),
      String(lines.filter((line) => line.cut).length),
      String(lines.filter(isFailed).length),
      String(lines.filter(isLate).length),
      milliseconds(median(lateness)),
      milliseconds(max(lateness)),
      median(loads).toFixed(1),
      max(loads).toFixed(1),
    ];
  });
  return markdownTable(head, rows);
}

function failureList(cells: readonly Cell[]): string[] {
  const failed = cells.flatMap((cell) => cell.lines).filter(isFailed);
  if (failed.length === 0) return [];
  const items = failed.slice(0, MOST_LISTED_FAILURES).map((line) => {
    const why =
      line.error ?? (line.cut ? 'the bytes before the cut are wrong' : 'the SHA-256 of the file is wrong');
    return `- ${inlineCode(line.scenario)} ${inlineCode(line.variant)}, repeat ${line.repeat}: ${escapeMarkdown(why).replaceAll(/\s+/g, ' ')}`;
  });
  const rest = failed.length - items.length;
  return [['Failed:', '', ...items, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n')];
}

function spreadTable(cells: readonly Cell[]): string {
  const head = [
    'scenario',
    'variant',
    'n',
    'least',
    '25 %',
    'median',
    '75 %',
    'most',
    'cut',
    'failed',
    'late',
  ];
  const rows = cells.map(({ scenario, variant, lines, goodputsBps }) => [
    inlineCode(scenario.id),
    inlineCode(variant.id),
    String(lines.length),
    ...[0, 0.25, 0.5, 0.75, 1].map((share) => mbps(quantile(goodputsBps, share))),
    String(lines.filter((line) => line.cut).length),
    String(lines.filter(isFailed).length),
    String(lines.filter(isLate).length),
  ]);
  const table = markdownTable(head, rows, { textColumns: 2 });
  return `<details><summary>Spread of every variant, Mbit/s</summary>\n\n${table}\n\n</details>`;
}
