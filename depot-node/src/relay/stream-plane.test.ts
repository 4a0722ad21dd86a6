import { describe } from 'vitest';
import { promiseRelay } from './relay-suite.ts';
import { streamPlane } from './stream-plane.ts';

describe('the relay through Node', () => {
  promiseRelay(() => Promise.resolve({ plane: streamPlane, close: () => Promise.resolve() }));
});
