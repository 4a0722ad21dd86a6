import { getSystemErrorMessage } from 'node:util';
import type { DepotConfig } from '../config.ts';
import type { KernelAccess } from '../kernel/open-kernel.ts';
import type { SocketReport } from '../sockets/leg-sockets.ts';
import { createUplinkPacer, type UplinkPacer } from './uplink-pacer.ts';

/**
 * The pacer of the configured uplink; `undefined` without one. Where the kernel cannot be asked to pace, that is told
 * once, and transfers share the line as they would without a configured rate.
 */
export function openUplink(
  { uplink, sockets }: Pick<DepotConfig, 'uplink' | 'sockets'>,
  access: KernelAccess,
  report: (report: SocketReport) => void,
): UplinkPacer | undefined {
  if (!uplink) return undefined;
  if (!access.kernel) {
    report({ what: 'uplink-not-shared', reason: access.reason });
    return undefined;
  }
  let isTold = false;
  return createUplinkPacer({
    rateBps: uplink.rateBps,
    kernel: access.kernel,
    maxPacingBps: (legClass) => sockets[legClass].maxPacingBps,
    onRefused: (errno) => {
      if (!isTold) report({ what: 'uplink-not-shared', reason: getSystemErrorMessage(errno) });
      isTold = true;
    },
  });
}
