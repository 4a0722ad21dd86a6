import { markdownTable } from '../report/markdown-table.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../report/run-items.ts';
import type { Lines } from '../results/result-file.ts';
import { max, median } from '../results/statistics.ts';
import {
  EVENT_NAMES,
  EVENTS,
  type EventLine,
  type Files,
  type JoinLine,
  type MastersLine,
  type Questions,
} from './masters-line.ts';

/** The targets: how soon all masters know the newest again after a cut, and a late joiner everything. */
const FRESH_WITHIN_MS = 3_000;
const JOINED_WITHIN_MS = 100;

/**
 * The page of `npm run lab -- masters`: what masters that lose sight of each other answer, and how soon they
 * know everything again.
 */
export function mastersPage({ info, lines }: Lines<MastersLine>): string {
  const events = lines.flatMap((line) => (line.kind === 'event' ? [line] : []));
  const joins = lines.flatMap((line) => (line.kind === 'join' ? [line] : []));
  const ofEvent = EVENT_NAMES.map((event) => ({ event, own: events.filter((line) => line.event === event) }));
  const failures = ofEvent.flatMap(({ event, own }) => {
    const reasons = own.flatMap(({ there, elsewhere, running, broken, begun }) =>
      [there, elsewhere, running, broken, begun].flatMap((each) => each.failures),
    );
    return reasons.length === 0 ? [] : [`${EVENTS[event].label}: ${[...new Set(reasons)].join('; ')}`];
  });
  const parts = [
    '# Masters that lose sight of each other',
    'How soon do three masters know everything again when something breaks between them, and do they answer meanwhile?',
    '## How it was made',
    bulletList([
      'Three sites, each with a master, two depots and nats-server by the files in docs/examples/nats (mutual TLS); each two sites have a cable of their own, clients and the origin reach each over a router; no delay. Depots send a heartbeat a second',
      'It happens at the first site, for ten seconds and more. Right: from the event until every master that can know it knows of a heartbeat of each depot after that; back: the same from the end of the event, for all masters. Up to a second of both is the time until the next heartbeat',
      'A client asks each master 20 times a second for a redirect of another file; a master that is dead is not counted',
      'Six clients download one file of 3 MiB after the other, each over a chain of its own, half of which lead from site to site, in six seconds each; every file is compared with the origin’s. Pause: the longest time without a new byte',
      'A clock is set for one master alone, by what its process reads; its steady clock goes on',
      commandItem(info),
      momentsItem(info),
      machineItem(info),
    ]),
    '## Views',
    markdownTable(
      ['event', 'repeats', 'right, median', 'worst', 'its end', 'back, median', 'worst', 'wanted'],
      ofEvent.map(({ event, own }) => [
        EVENTS[event].label,
        String(own.length),
        ...medianAndWorst(own.map(({ rightMs }) => rightMs)),
        EVENTS[event].end,
        ...medianAndWorst(own.map(({ backMs }) => backMs)),
        event === 'partition' || event === 'cut' ? ms(FRESH_WITHIN_MS) : '',
      ]),
    ),
    '## Answers meanwhile',
    'Redirects asked for, those without one, and those that led to the origin because no depot was known.',
    markdownTable(
      ['event', 'asked there', 'failed', 'to the origin', 'asked elsewhere', 'failed', 'to the origin'],
      ofEvent.map(({ event, own }) => [
        EVENTS[event].label,
        ...questionCells(own.map(({ there }) => there)),
        ...questionCells(own.map(({ elsewhere }) => elsewhere)),
      ]),
    ),
    '## Downloads',
    'Files that were running, those of them whose chain led over what was cut, and those that began while it lasted.',
    markdownTable(
      ['event', 'running', 'whole', 'pause', 'cut', 'whole', 'pause', 'begun', 'whole', 'pause'],
      ofEvent.map(({ event, own }) => [
        EVENTS[event].label,
        ...FILES.flatMap((files) => fileCells(own.map(files))),
      ]),
    ),
    ...(failures.length > 0 ? ['What failed, and why:', bulletList(failures)] : []),
    '## A late joiner',
    'From when it listens until it knows what the others do, with an overlay that tells of every link once a second.',
    markdownTable(
      [
        'depots',
        'links of each',
        'repeats',
        'median',
        'worst',
        'wanted',
        'least known',
        'redirects failed',
        'files',
        'whole',
      ],
      groupJoins(joins),
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}

const FILES: readonly ((line: EventLine) => Files)[] = [
  ({ running }) => running,
  ({ broken }) => broken,
  ({ begun }) => begun,
];

function ms(value: number): string {
  return Number.isNaN(value) ? '' : `${value.toFixed(0)} ms`;
}

/** Empty where there is none; `never` where the worst did not come in time. */
function medianAndWorst(values: readonly (number | null)[]): string[] {
  const known = values.flatMap((value) => (value === null ? [] : [value]));
  if (known.length === 0) return ['', ''];
  const missing = values.length - known.length;
  return [ms(median(known)), missing === 0 ? ms(max(known)) : `${missing} not in time`];
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): string {
  return String(items.reduce((total, item) => total + of(item), 0));
}

function questionCells(own: readonly Questions[]): string[] {
  return [
    sum(own, ({ asked }) => asked),
    sum(own, ({ failed }) => failed),
    sum(own, ({ toOrigin }) => toOrigin),
  ];
}

function fileCells(own: readonly Files[]): string[] {
  const isAny = own.some(({ files }) => files > 0);
  const pause = isAny ? ms(max(own.map(({ pauseMs }) => pauseMs))) : '';
  return [sum(own, ({ files }) => files), sum(own, ({ whole }) => whole), pause];
}

/** A row for each size of overlay. */
function groupJoins(joins: readonly JoinLine[]): string[][] {
  const groups = Map.groupBy(joins, ({ depots, links }) => `${depots} ${links}`);
  return [...groups.values()].map((own) => {
    const times = own.map(({ joinedMs }) => joinedMs);
    const known = own.map(({ knownDepots, knownLinks }) => `${knownDepots} depots, ${knownLinks} links`);
    const least =
      known[own.findIndex(({ knownLinks }) => own.every((other) => other.knownLinks >= knownLinks))];
    return [
      String(own[0]?.depots),
      String(own[0]?.links),
      String(own.length),
      ms(median(times)),
      ms(max(times)),
      ms(JOINED_WITHIN_MS),
      least ?? '',
      sum(own, ({ elsewhere }) => elsewhere.failed),
      sum(own, ({ running }) => running.files),
      sum(own, ({ running }) => running.whole),
    ];
  });
}
