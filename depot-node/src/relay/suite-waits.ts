import { readdirSync } from 'node:fs';
import { expect } from 'vitest';

/** Waits until a number has stayed the same for a few looks. */
export async function stopsGrowing(read: () => number): Promise<void> {
  let before = -1;
  let same = 0;
  await expect
    .poll(() => {
      const now = read();
      same = now === before ? same + 1 : 0;
      before = now;
      return same;
    })
    .toBeGreaterThan(3);
}

/** Descriptors of this process; 0 where the system does not tell. */
export function countDescriptors(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}
