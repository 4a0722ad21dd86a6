import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import type { RelayPlane } from '../relay-plane.ts';
import { promiseBody } from './body-promises.ts';
import { suiteConnections } from './suite-connections.ts';
import { promiseTunnel } from './tunnel-promises.ts';

interface OpenedPlane {
  readonly plane: RelayPlane;
  readonly close: () => Promise<void>;
}

/** What every relay plane promises, whatever moves the bytes. */
export function promiseRelay(open: () => Promise<OpenedPlane>): void {
  let opened: OpenedPlane;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());

  const connections = suiteConnections(() => opened.plane);
  afterEach(connections.destroyAll);

  describe('a tunnel', () => {
    promiseTunnel(connections);
  });
  describe('a body', () => {
    promiseBody(connections);
  });
}
