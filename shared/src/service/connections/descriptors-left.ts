import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { isOutOfDescriptors } from './own-fault.ts';

/** Whether this process can have another descriptor now; it takes one and gives it back, which costs microseconds. */
export function hasDescriptorLeft(): boolean {
  try {
    closeSync(openSync(devNull, 'r'));
    return true;
  } catch (failure) {
    return !isOutOfDescriptors(failure);
  }
}
