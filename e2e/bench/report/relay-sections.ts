import { formatBytes } from '@longhaul/shared';
import { type IntervalPanel, intervalChart } from '../../lab/report/interval-chart.ts';
import { inlineCode, markdownTable } from '../../lab/report/markdown-table.ts';
import { counted } from '../../lab/report/numbers.ts';
import type { Section } from '../../lab/report/page-parts.ts';
import { max, median, min } from '../../lab/results/statistics.ts';
import type { HeldLine } from '../measure/relay-line.ts';
import { RELAY_LABELS } from '../relays/relay-id.ts';
import { byLoad, type RelayCell } from './relay-cells.ts';

/** Something measured of every run. */
interface Quantity {
  readonly name: string;
  readonly title: string;
  readonly xLabel: string;
  readonly of: (cell: RelayCell) => readonly number[];
  readonly digits: number;
  /** Whether the run without a relay says something of it. */
  readonly hasBound: boolean;
  readonly text: readonly string[];
}

const CPU: Quantity = {
  name: 'cpu',
  title: 'CPU of the relay',
  xLabel: 'CPU seconds by GB; less is better',
  of: ({ cpuSecondsPerGB }) => cpuSecondsPerGB,
  digits: 3,
  hasBound: false,
  text: ['Median and [least–most]:'],
};
const GOODPUT: Quantity = {
  name: 'goodput',
  title: 'Goodput',
  xLabel: 'Gbit/s; more is better',
  of: ({ goodputsBps }) => goodputsBps.map((bps) => bps / 1e9),
  digits: 1,
  hasBound: true,
  text: [
    'Median and [least–most]. Where a relay comes near `direct`, source and sink on their one core are the limit, and the relay could carry more: its own core then has time left.',
  ],
};

/** Charts and tables of a result. */
export function relaySections(cells: readonly RelayCell[], held: readonly HeldLine[]): Section[] {
  return [
    ...(cells.length > 0 ? [CPU, GOODPUT].map((quantity) => quantitySection(quantity, cells)) : []),
    ...(held.length > 0 ? [heldSection(held)] : []),
    ...(cells.length > 0 ? [spreadSection(cells)] : []),
  ];
}

function quantitySection(quantity: Quantity, cells: readonly RelayCell[]): Section {
  const loads = byLoad(cells.filter(({ relay }) => quantity.hasBound || relay !== 'direct'));
  const panels = loads.map((own) => panelOf(quantity, own));
  const svg = intervalChart({
    title: quantity.title,
    description: `${quantity.title} of each relay with its range, one panel for each of ${loads.length} numbers of flows.`,
    xLabel: quantity.xLabel,
    panels,
    legend: ['Mark: median. Whiskers: least and most. Dots: single runs.'],
    hasOwnScales: quantity.hasBound,
  });
  const relays = [...new Set(loads.flat().map(({ relay }) => relay))];
  const rows = relays.map((relay) => [
    inlineCode(relay),
    ...loads.map((own) => {
      const cell = own.find((one) => one.relay === relay);
      return cell ? rangeText(quantity.of(cell), quantity.digits) : '–';
    }),
  ]);
  const head = ['relay', ...loads.map((own) => loadName(own))];
  return {
    title: quantity.title,
    text: quantity.text,
    picture: { name: quantity.name, title: quantity.title, svg },
    tables: [markdownTable(head, rows)],
  };
}

function panelOf(quantity: Quantity, cells: readonly RelayCell[]): IntervalPanel {
  const rows = cells.map((cell) => {
    const values = quantity.of(cell);
    return {
      label: RELAY_LABELS[cell.relay],
      series: cell.series,
      value: median(values),
      low: min(values),
      high: max(values),
      valueLabel: median(values).toFixed(quantity.digits),
      singles: values.map((value) => ({ value, isHollow: false })),
    };
  });
  return { title: loadName(cells), rows };
}

function heldSection(held: readonly HeldLine[]): Section {
  const head = [
    'flows',
    'relay',
    'process, kB each',
    'process, MB',
    'descriptors',
    'CPU, % of a core',
    'its sockets, kB each',
    'TCP in all, MB',
  ];
  const rows = held.map((line) => [
    `${line.flows} ${line.held}`,
    inlineCode(line.relay),
    (line.rssGrowthBytes / line.flows / 1000).toFixed(1),
    (line.rssGrowthBytes / 1e6).toFixed(1),
    String(line.descriptorGrowth),
    (line.cpuShare * 100).toFixed(2),
    (line.socketBytes / line.flows / 1000).toFixed(0),
    (line.tcpMemoryGrowthBytes / 1e6).toFixed(0),
  ]);
  return {
    title: 'Flows that rest',
    text: [
      'What one relay holds for flows that have begun and then rest, measured once, before all runs: **idle** ones, whose source says nothing any more, and **stalled** ones, whose source goes on while nobody reads; **capped** are stalled ones through a depot whose `sockets.client.sendBufferBytes` and `sockets.origin.receiveBufferBytes` are 256 KiB. “Process” is the growth of its resident memory; “its sockets” are the bytes in the kernel buffers of its own ends; “TCP in all” adds those of source and sink. Bytes in pipes are in none of these columns: the descriptors tell how many pipes there are.',
    ],
    tables: [markdownTable(head, rows, { textColumns: 2 })],
  };
}

function spreadSection(cells: readonly RelayCell[]): Section {
  const head = [
    'flows',
    'body',
    'relay',
    'n',
    'CPU s/GB, all runs',
    'Gbit/s, all runs',
    'RSS, most, MB',
    'load, median',
  ];
  const rows = cells.map((cell) => [
    String(cell.flows),
    formatBytes(cell.bodyBytes),
    inlineCode(cell.relay),
    String(cell.lines.length),
    all(cell.cpuSecondsPerGB, 3),
    all(
      cell.goodputsBps.map((bps) => bps / 1e9),
      1,
    ),
    (max(cell.lines.map(({ rssBytes }) => rssBytes)) / 1e6).toFixed(0),
    median(cell.lines.map(({ load }) => load)).toFixed(1),
  ]);
  const table = markdownTable(head, rows, { textColumns: 3 });
  return {
    title: 'All runs',
    tables: [`<details><summary>Every run, in rising order</summary>\n\n${table}\n\n</details>`],
  };
}

function all(values: readonly number[], digits: number): string {
  return values
    .toSorted((a, b) => a - b)
    .map((value) => value.toFixed(digits))
    .join(' ');
}

function rangeText(values: readonly number[], digits: number): string {
  return `${median(values).toFixed(digits)} [${min(values).toFixed(digits)}–${max(values).toFixed(digits)}]`;
}

function loadName(cells: readonly RelayCell[]): string {
  const [first] = cells;
  return first ? `${counted(first.flows, 'flow')} x ${formatBytes(first.bodyBytes)}` : '';
}
