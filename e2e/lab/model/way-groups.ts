import { LIMITED_BUFFER_BYTES } from '../experiments/four-links.ts';
import { pathBetween } from '../network/routes.ts';
import { counted } from '../report/numbers.ts';
import { LOSSES } from './grid-cells.ts';
import type { MeasuredWay, PartOfRun } from './measured-ways.ts';

/** The parts of a run, in the words of its page. */
export const PARTS: Readonly<Record<PartOfRun, string>> = {
  fitting: 'grid, the half to fit on',
  other: 'grid, the other half',
  drawn: 'drawn topologies',
};

/** The ways of each part that has some. */
export function partsOf(ways: readonly MeasuredWay[]): (readonly [PartOfRun, readonly MeasuredWay[]])[] {
  return (Object.keys(PARTS) as PartOfRun[]).flatMap((part) => {
    const own = ways.filter((way) => way.part === part);
    return own.length > 0 ? [[part, own] as const] : [];
  });
}

/** What ways are put together by; undefined where it is not said of them. */
export const GROUPS: Readonly<Record<string, (way: MeasuredWay) => string | undefined>> = {
  sender: senderOf,
  loss: lossOf,
  'sender and loss': (way) => `${senderOf(way)}, ${lossOf(way)}`,
  scheme: ({ scenario: { tls } }) => (tls ? 'https' : 'http'),
  'round trip': ({ scenario: { topology } }) => {
    const rttMs = topology.links.reduce((sum, link) => sum + ('wire' in link ? 0 : link.rttMs), 0);
    return rttMs < 60 ? '10 to 59 ms' : rttMs < 120 ? '60 to 119 ms' : '120 ms and more';
  },
  window: ({ scenario: { topology, client } }) =>
    topology.sites[client]?.receiveBufferBytes === LIMITED_BUFFER_BYTES ? 'limited' : 'big',
  queue: queueOf,
  size: ({ scenario: { sizeBytes } }) =>
    sizeBytes < 1e6 ? '0 to 1 MB' : sizeBytes < 10e6 ? '1 to 10 MB' : '10 MB and more',
  way: ({ modelled: { legs, lanes } }) =>
    legs.length === 1
      ? 'direct'
      : counted(legs.length - 1, 'depot') + (lanes > 1 ? `, ${counted(lanes, 'lane')}` : ''),
};

/** Of the grid, whose queues are of two kinds. */
function queueOf({ part, scenario: { topology } }: MeasuredWay): string | undefined {
  const [link] = topology.links;
  if (part === 'drawn' || !link || 'wire' in link || !('bytes' in link.queue)) return undefined;
  return link.queue.bytes < (link.rateBps * link.rttMs) / 8000 ? 'half' : 'twice';
}

function senderOf({ scenario: { topology, origin } }: MeasuredWay): string {
  return topology.sites[origin]?.congestionControl ?? '';
}

/** The loss of the grid that is nearest to that of the whole path. */
function lossOf({ scenario: { topology, client, origin } }: MeasuredWay): string {
  const { lossRate } = pathBetween(topology, origin, client);
  if (lossRate === 0) return '0';
  const distance = (one: number) => Math.abs(Math.log(one / lossRate));
  const known = LOSSES.filter((one) => one > 0);
  return String(known.reduce((best, one) => (distance(one) < distance(best) ? one : best)));
}
