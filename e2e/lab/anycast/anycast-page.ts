import { markdownTable } from '../report/markdown-table.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../report/run-items.ts';
import type { Lines } from '../results/result-file.ts';
import { max, median } from '../results/statistics.ts';
import { type AnycastLine, EVENT_NAMES, EVENTS } from './anycast-line.ts';

/** The page of `npm run lab -- anycast`: how soon the next site answers, and whether load takes an address away. */
export function anycastPage({ info, lines }: Lines<AnycastLine>): string {
  const events = lines.flatMap((line) => (line.kind === 'event' ? [line] : []));
  const loads = lines.flatMap((line) => (line.kind === 'load' ? [line] : []));
  const ms = (value: number) => (Number.isNaN(value) ? '' : `${value.toFixed(0)} ms`);
  const count = (value: number) => (Number.isNaN(value) ? '' : String(value));
  const parts = [
    '# Masters behind one address',
    'How soon does the next site answer a client when the nearest one fails, and does full load ever take its address away?',
    '## How it was made',
    bulletList([
      'Three sites with a master, a depot, nats-server and longhaul-announce each, two with BIRD and BFD (50 ms, three times), one with ExaBGP, by the files in docs/examples/anycast; a router with BIRD; cables without delay',
      'The client asks every 10 ms over a connection of its own, by https. Time to switch: from the event to the end of the next site’s first answer to a question that was asked after it',
      'Back: from the end of the event (the master ready, the cable whole) to the first answer of the nearest site',
      commandItem(info),
      momentsItem(info),
      machineItem(info),
    ]),
    '## The nearest site fails',
    markdownTable(
      [
        'event',
        'repeats',
        'switch, median',
        'worst',
        'wanted',
        'failed questions, median',
        'worst',
        'back, median',
        'worst',
      ],
      EVENT_NAMES.map((event) => {
        const own = events.filter((line) => line.event === event);
        const switches = own.map(({ switchMs }) => switchMs);
        const failed = own.map(({ failedAfter, failedBefore }) => failedAfter + failedBefore);
        const backs = own.map(({ backMs }) => backMs);
        return [
          EVENTS[event].label,
          String(own.length),
          ms(median(switches)),
          ms(max(switches)),
          ms(EVENTS[event].targetMs),
          count(median(failed)),
          count(max(failed)),
          ms(median(backs)),
          ms(max(backs)),
        ];
      }),
    ),
    '## Full load',
    markdownTable(
      ['time', 'redirects a second', 'withdrawals', 'answers of other sites', 'no answer'],
      loads.map(({ seconds, redirects, withdrawals, answeredElsewhere, failed }) => [
        `${(seconds / 60).toFixed(0)} min`,
        (redirects / seconds).toFixed(0),
        withdrawals.length === 0 ? '0' : `${withdrawals.length} (${withdrawals.join(', ')})`,
        String(answeredElsewhere),
        String(failed),
      ]),
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}
