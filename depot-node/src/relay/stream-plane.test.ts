import { describe } from 'vitest';
import { promiseRelay } from './promises/relay-promises.ts';
import { streamPlane } from './stream-plane.ts';

describe('the relay through Node', () => {
  promiseRelay(() => Promise.resolve({ plane: streamPlane, close: () => Promise.resolve() }));
});
