import { openSplicePlane } from '../relay/splice-plane.ts';
import type { TlsEnding } from '../tls/tls-ending.ts';

/** What ends TLS on this machine, for suites that hold for each: `describe.each(await testEndings())`. */
export async function testEndings(): Promise<[string, TlsEnding | undefined][]> {
  const opened = await openSplicePlane();
  const ofThreads = opened.ok && !('reason' in opened.plane.tls) ? opened.plane.tls : undefined;
  return ofThreads
    ? [
        ['Node', undefined],
        ['relay threads', ofThreads],
      ]
    : [['Node', undefined]];
}
