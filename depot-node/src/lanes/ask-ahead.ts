import type { LaneEvent } from '../plane/events.ts';
import type { BlockQueue } from './block-queue.ts';
import type { Lane } from './lane.ts';
import type { LaneShares } from './lane-shares.ts';
import type { LanesConfig } from './lanes-config.ts';
import { chooseAhead, chooseLateFirst } from './next-block.ts';

interface AheadComponents {
  readonly config: LanesConfig;
  readonly observe: (event: LaneEvent) => void;
}

/**
 * Asks lanes for what they fetch next, those first that have least to do. Gives how much has to be
 * delivered before one more.
 */
export function askAhead(
  lanes: readonly Lane[],
  shares: LaneShares,
  queue: BlockQueue,
  { config, observe }: AheadComponents,
): number {
  for (;;) {
    const lane = leastAsked(lanes);
    if (!lane) return Number.POSITIVE_INFINITY;
    const late = chooseLateFirst(lane, lanes, queue);
    if (late) {
      const { nextByte: startByte, endByte } = late;
      observe({ type: 'block-asked-again', lane: lane.index, startByte, endByte });
      lane.start(late);
      continue;
    }
    const choice = chooseAhead(lane, shares.besides(lane), queue, config);
    if (choice.is === 'wait') return choice.forBytes;
    lane.start(choice.block);
  }
}

/** Of the lanes that can be asked ahead the one that has least to do. */
function leastAsked(lanes: readonly Lane[]): Lane | undefined {
  const able = lanes.filter(({ mayAskAhead }) => mayAskAhead);
  const least = Math.min(...able.map(({ fetches }) => fetches.length));
  const [first, ...others] = able.filter(({ fetches }) => fetches.length === least);
  if (others.length === 0) return first;
  let found = first;
  let leastMs = first?.busyMs ?? 0;
  for (const lane of others) {
    const { busyMs } = lane;
    if (busyMs >= leastMs) continue;
    found = lane;
    leastMs = busyMs;
  }
  return found;
}
