import type { Libc } from './libc.ts';
import { TIME_ERROR } from './linux-constants.ts';

/** Calls for the clock of this machine. */
export interface ClockCalls {
  /**
   * Whether a time service keeps the clock right, as the kernel was told (adjtimex); `undefined` where it
   * does not say.
   */
  readonly isClockSynchronised: () => boolean | undefined;
}

/** Size of struct timex on 64-bit Linux is 208. */
const TIMEX_BYTES = 256;

export function bindClockCalls({ bind, buffer }: Libc): ClockCalls {
  const adjtimex = bind('adjtimex', 'int', 'intptr_t');
  return {
    isClockSynchronised: () => {
      // All zero: nothing is set, only read.
      const state = adjtimex(buffer(TIMEX_BYTES).address);
      return state < 0 ? undefined : state !== TIME_ERROR;
    },
  };
}
