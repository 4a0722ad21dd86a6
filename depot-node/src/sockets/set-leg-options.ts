import { SOCKET_OPTIONS } from '../kernel/linux-constants.ts';
import type { SocketCalls } from '../kernel/socket-calls.ts';
import { type LegOptions, SYSTEM_CONGESTION_CONTROL } from './leg-options.ts';

/** An option that the kernel did not take. */
export interface RefusedOption {
  /** Its name in the configuration. */
  readonly option: keyof LegOptions;
  /** Below 0, as in Node's own errors. */
  readonly errno: number;
}

/** Time between two keep-alive probes. */
const KEEP_ALIVE_INTERVAL_SECONDS = 10;
/** Unanswered probes that end a connection: a minute of them. */
const KEEP_ALIVE_PROBES = 6;
/** What the kernel takes for no limit of pacing. */
const UNPACED = 0xffffffffffffffffn;

type Step = readonly [option: keyof LegOptions, errno: number];

/**
 * Sets a fresh socket, or a listening one whose connections inherit it, to the options of its class. Gives what the
 * kernel refused; everything else is set all the same.
 */
export function setLegOptions(kernel: SocketCalls, descriptor: number, options: LegOptions): RefusedOption[] {
  const { setNumber } = kernel;
  const steps: Step[] = [
    ['noDelay', setNumber(descriptor, SOCKET_OPTIONS.noDelay, options.noDelay ? 1 : 0)],
    ['keepAliveSeconds', setKeepAlive(kernel, descriptor, options.keepAliveSeconds)],
  ];
  const { congestionControl, notSentLowatBytes, userTimeoutSeconds } = options;
  if (congestionControl !== SYSTEM_CONGESTION_CONTROL) {
    steps.push([
      'congestionControl',
      kernel.setText(descriptor, SOCKET_OPTIONS.congestion, congestionControl),
    ]);
  }
  if (notSentLowatBytes > 0) {
    const errno = setNumber(descriptor, SOCKET_OPTIONS.notSentLowat, notSentLowatBytes);
    steps.push(['notSentLowatBytes', errno]);
  }
  if (userTimeoutSeconds > 0) {
    const errno = setNumber(descriptor, SOCKET_OPTIONS.userTimeout, Math.ceil(userTimeoutSeconds * 1000));
    steps.push(['userTimeoutSeconds', errno]);
  }
  if (options.maxPacingBps !== undefined) {
    steps.push(['maxPacingBps', setMaxPacing(kernel, descriptor, options.maxPacingBps)]);
  }
  if (options.sendBufferBytes !== undefined) {
    const errno = setNumber(descriptor, SOCKET_OPTIONS.sendBuffer, options.sendBufferBytes);
    steps.push(['sendBufferBytes', errno]);
  }
  if (options.receiveBufferBytes !== undefined) {
    const errno = setNumber(descriptor, SOCKET_OPTIONS.receiveBuffer, options.receiveBufferBytes);
    steps.push(['receiveBufferBytes', errno]);
  }
  return steps.flatMap(([option, errno]) => (errno === 0 ? [] : [{ option, errno }]));
}

/**
 * Moves a connected socket from the class it was accepted as to another one: what only the former class had set goes
 * back to the system's own.
 */
export function changeLegOptions(
  kernel: SocketCalls,
  descriptor: number,
  former: LegOptions,
  options: LegOptions,
  systemCongestionControl: string | undefined,
): RefusedOption[] {
  const { setNumber } = kernel;
  const isSystem = options.congestionControl === SYSTEM_CONGESTION_CONTROL;
  if (isSystem && former.congestionControl !== SYSTEM_CONGESTION_CONTROL && systemCongestionControl) {
    kernel.setText(descriptor, SOCKET_OPTIONS.congestion, systemCongestionControl);
  }
  if (options.notSentLowatBytes === 0) setNumber(descriptor, SOCKET_OPTIONS.notSentLowat, 0);
  if (options.userTimeoutSeconds === 0) setNumber(descriptor, SOCKET_OPTIONS.userTimeout, 0);
  if (former.maxPacingBps !== undefined && options.maxPacingBps === undefined) {
    setMaxPacing(kernel, descriptor, undefined);
  }
  // The kernel tunes a buffer again once it is unlocked (Linux 5.14).
  if (former.sendBufferBytes !== undefined || former.receiveBufferBytes !== undefined) {
    setNumber(descriptor, SOCKET_OPTIONS.bufferLock, 0);
  }
  return setLegOptions(kernel, descriptor, options);
}

/** Sets the rate of payload that a connection may not exceed, or lifts it; 0, or an errno below 0. */
export function setMaxPacing(
  kernel: SocketCalls,
  descriptor: number,
  maxPacingBps: number | undefined,
): number {
  const bytesPerSecond = maxPacingBps === undefined ? UNPACED : BigInt(Math.ceil(maxPacingBps / 8));
  return kernel.setLargeNumber(descriptor, SOCKET_OPTIONS.maxPacingRate, bytesPerSecond);
}

function setKeepAlive(kernel: SocketCalls, descriptor: number, idleSeconds: number): number {
  const errnos = [
    kernel.setNumber(descriptor, SOCKET_OPTIONS.keepAlive, 1),
    kernel.setNumber(descriptor, SOCKET_OPTIONS.keepIdle, idleSeconds),
    kernel.setNumber(descriptor, SOCKET_OPTIONS.keepInterval, KEEP_ALIVE_INTERVAL_SECONDS),
    kernel.setNumber(descriptor, SOCKET_OPTIONS.keepCount, KEEP_ALIVE_PROBES),
  ];
  return errnos.find((errno) => errno !== 0) ?? 0;
}
