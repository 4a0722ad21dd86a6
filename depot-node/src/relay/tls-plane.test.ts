import { describe } from 'vitest';
import { promiseRelay } from './promises/relay-promises.ts';
import { tlsPair } from './promises/tls-pair.ts';
import { openSplicePlane } from './splice-plane.ts';

const opened = await openSplicePlane();
const ending = opened.ok && 'accept' in opened.plane.tls ? opened.plane.tls : undefined;
const why = opened.ok
  ? 'reason' in opened.plane.tls
    ? ` (skipped: ${opened.plane.tls.reason})`
    : ''
  : ` (skipped: ${opened.reason})`;

describe.skipIf(!ending)(`the relay over TLS that its threads end${why}`, () => {
  if (!opened.ok || !ending) return;
  const { plane } = opened;
  let made = 0;
  /** Both roles in turn. */
  const pair = () => {
    made += 1;
    return tlsPair(ending, made % 2 === 0 ? 'server' : 'client');
  };
  promiseRelay(() => Promise.resolve({ plane, close: plane.close }), pair);
});
