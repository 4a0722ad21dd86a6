import { describe, expect, it } from 'vitest';
import { IdleStock } from './idle-stock.ts';

function stockOf(count: number): IdleStock<number> {
  const stock = new IdleStock<number>(64);
  for (let one = 0; one < count; one += 1) stock.give(one);
  stock.shrink();
  return stock;
}

describe('what is kept for its next use', () => {
  it('comes back, the one used last first', () => {
    const stock = stockOf(3);
    expect([stock.take(), stock.take(), stock.take(), stock.take()]).toEqual([2, 1, 0, undefined]);
  });

  it('is bounded', () => {
    const stock = stockOf(64);
    expect(stock.give(64)).toBe(false);
    expect(stock.empty()).toHaveLength(64);
    expect(stock.isEmpty).toBe(true);
  });

  it('is gone within fifteen looks after a burst', () => {
    const stock = stockOf(64);
    const gone = Array.from({ length: 15 }, () => stock.shrink()).flat();
    expect(new Set(gone).size).toBe(64);
    expect(stock.isEmpty).toBe(true);
  });

  it('stays while it is needed between two looks', () => {
    const stock = stockOf(4);
    for (let look = 0; look < 100; look += 1) {
      const taken = Array.from({ length: 4 }, () => stock.take() as number);
      for (const one of taken) stock.give(one);
      expect(stock.shrink()).toEqual([]);
    }
  });

  it('goes from the end that waits longest', () => {
    const stock = stockOf(4);
    expect(stock.shrink()).toEqual([0]);
    expect(stock.take()).toBe(3);
  });
});
