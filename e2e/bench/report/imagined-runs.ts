import type { CaseId } from '../cases/case-id.ts';
import type { CaseLine } from '../cases/case-line.ts';
import type { HeldLine, RelayLine } from '../measure/relay-line.ts';
import { RELAY_IDS, type RelayId } from '../relays/relay-id.ts';

/** Runs as they might be, for tests of the page: three of each relay, CPU as told. */
export function imaginedRuns(
  flows: number,
  bodyBytes: number,
  cpuOf: Partial<Record<RelayId, number>>,
): RelayLine[] {
  return RELAY_IDS.flatMap((relay) => {
    const cpuSecondsPerGB = cpuOf[relay];
    if (cpuSecondsPerGB === undefined) return [];
    return [1, 2, 3].map(
      (repeat): RelayLine => ({
        bench: 'relay',
        relay,
        flows,
        bodyBytes,
        repeat,
        cpuSecondsPerGB: cpuSecondsPerGB * (1 + repeat / 1000),
        goodputBps: cpuSecondsPerGB === 0 ? 80e9 : (4e9 / cpuSecondsPerGB) * (1 + repeat / 1000),
        rssBytes: 50e6,
        load: 1.5,
      }),
    );
  });
}

export function imaginedHeld(
  relay: RelayId,
  held: HeldLine['held'],
  change: Partial<HeldLine> = {},
): HeldLine {
  return {
    bench: 'relay-held',
    relay,
    held,
    flows: held === 'idle' ? 1000 : 200,
    rssGrowthBytes: 20e6,
    descriptorGrowth: 2000,
    cpuShare: 0.001,
    socketBytes: 0,
    tcpMemoryGrowthBytes: 0,
    load: 1.5,
    ...change,
  };
}

export function imaginedCase(id: CaseId, party: string, values: Record<string, number>): CaseLine {
  return { bench: 'relay-case', case: id, party, repeat: 1, values, load: 1 };
}
