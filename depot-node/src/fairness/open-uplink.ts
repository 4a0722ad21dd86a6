import { getSystemErrorMessage } from 'node:util';
import type { KernelAccess } from '../kernel/open-kernel.ts';
import type { LegTable } from '../sockets/leg-options.ts';
import type { SocketReport } from '../sockets/leg-sockets.ts';
import { createUplinkPacer, type UplinkPacer } from './uplink-pacer.ts';

interface UplinkConfig {
  /** Payload bits per second that all transfers may send together. */
  readonly uplink?: { readonly rateBps: number } | undefined;
  readonly sockets: LegTable;
}

/**
 * The pacer of the configured uplink; `undefined` without one. Where the kernel cannot be asked to pace, that is told
 * once, and transfers share the line as they would without a configured rate.
 */
export function openUplink(
  { uplink, sockets }: UplinkConfig,
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
