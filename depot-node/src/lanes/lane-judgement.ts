import { isDegraded } from './degraded-lane.ts';
import type { Lane } from './lane.ts';
import type { LanesConfig } from './lanes-config.ts';

const BITS_PER_MS = 8000;

/** Whether a lane in service holds the others up, as far as all of them are measured. */
export function isHoldingUp(lane: Lane, lanes: readonly Lane[], config: LanesConfig): boolean {
  if (lane.isRemoved) return false;
  const others = lanes.filter((other) => other !== lane && !other.isRemoved);
  const othersBps = others.reduce((sum, { meter }) => sum + (meter.bytesPerMs ?? 0) * BITS_PER_MS, 0);
  const { bytesPerMs, leastDelayMs = 0, blocks } = lane.meter;
  const rateBps = bytesPerMs === undefined ? undefined : bytesPerMs * BITS_PER_MS;
  return isDegraded({ rateBps, blocks, leastDelayMs, promise: lane.promise }, othersBps, config);
}
