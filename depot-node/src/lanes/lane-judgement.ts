import { isDegraded, type LaneRecord } from './degraded-lane.ts';
import type { Lane } from './lane.ts';
import type { LanesConfig } from './lanes-config.ts';

const BPS_PER_BYTE_PER_MS = 8000;

/** Whether a lane in service holds the others up, as far as they are measured. */
export function isHoldingUp(lane: Lane, lanes: readonly Lane[], config: LanesConfig): boolean {
  if (lane.isRemoved) return false;
  const others = lanes.filter((other) => other !== lane && !other.isRemoved);
  return isDegraded(recordOf(lane), others.map(recordOf), config);
}

function recordOf({ meter, promise }: Lane): LaneRecord {
  const { bytesPerMs, leastDelayMs = 0, blocks } = meter;
  const rateBps = bytesPerMs === undefined ? undefined : bytesPerMs * BPS_PER_BYTE_PER_MS;
  return { rateBps, blocks, leastDelayMs, promise };
}
