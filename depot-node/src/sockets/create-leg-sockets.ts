import type { KernelAccess } from '../kernel/open-kernel.ts';
import { KernelLegSockets } from './kernel-leg-sockets.ts';
import type { LegTable } from './leg-options.ts';
import type { LegSockets, SocketReport } from './leg-sockets.ts';
import { createNodeLegSockets } from './node-leg-sockets.ts';

/** Makes the sockets of a depot. Tells at once, through `report`, which of the options this machine refuses. */
export function createLegSockets(
  table: LegTable,
  access: KernelAccess,
  report: (report: SocketReport) => void,
): LegSockets {
  if (access.kernel) return new KernelLegSockets(table, access.kernel, report);
  report({ what: 'options-unavailable', reason: access.reason });
  return createNodeLegSockets(table);
}
