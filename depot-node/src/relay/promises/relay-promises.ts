import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import type { RelayPlane } from '../relay-plane.ts';
import { promiseBody } from './body-promises.ts';
import { socketPair } from './socket-pair.ts';
import { suiteConnections } from './suite-connections.ts';
import { promiseTunnel } from './tunnel-promises.ts';

interface OpenedPlane {
  readonly plane: RelayPlane;
  readonly close: () => Promise<void>;
}

/** What every relay plane promises, whatever moves the bytes, and whatever the connections are that `pair` makes. */
export function promiseRelay(
  open: () => Promise<OpenedPlane>,
  makePair: () => Promise<[Socket, Socket]> = socketPair,
): void {
  let opened: OpenedPlane;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());

  const connections = suiteConnections(() => opened.plane, makePair);
  afterEach(connections.destroyAll);

  describe('a tunnel', () => {
    promiseTunnel(connections);
  });
  describe('a body', () => {
    promiseBody(connections);
  });
}
