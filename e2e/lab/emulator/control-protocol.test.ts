import { expect, test } from 'vitest';
import { decodeLine, type EmulatorLine, encodeLine } from './control-protocol.ts';

test('what is said arrives the same, rates without a limit too, on one line', () => {
  const line: EmulatorLine = {
    kind: 'set',
    link: 'a:b',
    directions: ['forward'],
    change: { rateBps: Number.POSITIVE_INFINITY, delayMs: 0.25, loss: { kind: 'independent', rate: 1e-9 } },
  };
  const text = encodeLine(line);
  expect(text.indexOf('\n')).toBe(text.length - 1);
  expect(decodeLine(text)).toEqual(line);
});
