import { inlineCode } from '../../lab/report/markdown-table.ts';
import { counted, listed, ratio, ratioRange } from '../../lab/report/numbers.ts';
import { median, ratioOfMedians } from '../../lab/results/statistics.ts';
import type { HeldLine } from '../measure/relay-line.ts';
import type { RelayId } from '../relays/relay-id.ts';
import { byLoad, type RelayCell } from './relay-cells.ts';

const OURS: RelayId = 'longhaul-splice';
const FALLBACK: RelayId = 'longhaul-streams';
/** Named in sentences; the tables have all. */
const RIVALS: readonly RelayId[] = ['haproxy-splice', 'nginx-best', 'nginx-unbuffered', 'squid', 'node-pipe'];
/** With fewer runs an interval says nothing. */
const FEWEST_FOR_RANGE = 3;

/** Sentences that say what is seen, also where a rival is better; Markdown. */
export function relayFindings(cells: readonly RelayCell[], held: readonly HeldLine[]): string[] {
  return [...byLoad(cells).map(ofLoad), ...ofHeld(held)];
}

function ofLoad(cells: readonly RelayCell[]): string {
  const flows = cells[0]?.flows ?? 0;
  const head = `**${counted(flows, 'flow')}**`;
  const relays = cells.filter(({ relay }) => relay !== 'direct');
  const ours = relays.find(({ relay }) => relay === OURS) ?? relays.find(({ relay }) => relay === FALLBACK);
  const least = relays.toSorted((a, b) => median(a.cpuSecondsPerGB) - median(b.cpuSecondsPerGB))[0];
  if (!least) return `${head}: no relay was measured.`;
  if (!ours) return `${head}: least CPU needs ${inlineCode(least.relay)}, ${cpu(least)}.`;
  const others = relays.filter(({ relay }) => RIVALS.includes(relay));
  const compared = others.flatMap((other) => {
    const estimate = ratioOfMedians(ours.cpuSecondsPerGB, other.cpuSecondsPerGB);
    if (!estimate) return [];
    const isFew = Math.min(ours.lines.length, other.lines.length) < FEWEST_FOR_RANGE;
    const range = isFew ? '' : ` ${ratioRange(estimate)}`;
    return [`${ratio(estimate.value)}${range} x ${inlineCode(other.relay)}`];
  });
  const speeds = others.flatMap((other) => {
    const estimate = ratioOfMedians(ours.goodputsBps, other.goodputsBps);
    return estimate && (other.relay === 'haproxy-splice' || other.relay === 'nginx-best')
      ? [`${ratio(estimate.value)} x ${inlineCode(other.relay)}`]
      : [];
  });
  const winner = least === ours ? '' : ` Least CPU needs ${inlineCode(least.relay)}, ${cpu(least)}.`;
  const against = compared.length > 0 ? `, which is ${listed(compared)}` : '';
  const speed = `It carries ${gbps(ours)} Gbit/s${speeds.length > 0 ? `, ${listed(speeds)}` : ''}.`;
  return `${head}: ${inlineCode(ours.relay)} needs ${cpu(ours)}${against}. ${speed}${winner}`;
}

function ofHeld(held: readonly HeldLine[]): string[] {
  return (['idle', 'stalled'] as const).flatMap((kind) => {
    const named: readonly RelayId[] = [OURS, FALLBACK, 'haproxy-splice', 'nginx-best'];
    const lines = held.filter((line) => line.held === kind && named.includes(line.relay));
    const flows = lines[0]?.flows;
    if (flows === undefined) return [];
    const told = lines.map((line) =>
      kind === 'idle'
        ? `${(line.rssGrowthBytes / flows / 1000).toFixed(1)} kB by ${inlineCode(line.relay)}`
        : `${(line.rssGrowthBytes / 1e6).toFixed(1)} MB and ${(line.socketBytes / flows / 1e6).toFixed(2)} MB of kernel memory each by ${inlineCode(line.relay)}`,
    );
    const head =
      kind === 'idle'
        ? `**${flows} flows of which nothing comes any more** cost, each,`
        : `**${flows} flows that nobody reads** cost in all`;
    return [`${head} ${listed(told)}.`];
  });
}

function cpu(cell: RelayCell): string {
  return `${median(cell.cpuSecondsPerGB).toFixed(3)} CPU seconds by GB`;
}

function gbps(cell: RelayCell): string {
  return (median(cell.goodputsBps) / 1e9).toFixed(1);
}
