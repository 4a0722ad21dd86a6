import { createRequire } from 'node:module';

/** Size of struct timex on 64-bit Linux is 208. */
const TIMEX_BYTES = 256;
// What adjtimex returns while nothing keeps the clock right.
const TIME_ERROR = 5;

/**
 * Whether a time service keeps the clock of this machine right, as the kernel was told (adjtimex); `undefined` where
 * that cannot be asked: not Linux, or no koffi.
 */
export function readClockState(): boolean | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    const adjust = koffi.load(null).func('adjtimex', 'int', ['intptr_t']);
    // All zero: nothing is set, only read.
    const timex = new ArrayBuffer(TIMEX_BYTES);
    const state: number = adjust(Number(koffi.address(timex)));
    return state < 0 ? undefined : state !== TIME_ERROR;
  } catch {
    return undefined;
  }
}
