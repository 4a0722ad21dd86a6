import type { PlaneKind } from '../relay/relay-plane.ts';
import { openSplicePlane, type SplicePlane } from '../relay/splice-plane.ts';

/** The planes that this machine has, for suites that hold for each: `describe.each(await testPlanes())`. */
export async function testPlanes(): Promise<[PlaneKind, SplicePlane | undefined][]> {
  const opened = await openSplicePlane();
  return opened.ok
    ? [
        ['streams', undefined],
        ['splice', opened.plane],
      ]
    : [['streams', undefined]];
}
