import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { unlikeBytes } from './testing/block-origin.ts';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { type Manner, StubbornOrigin } from './testing/stubborn-origin.ts';
import { testPlanes } from './testing/test-planes.ts';

const FILE = unlikeBytes(3_000_000);
const LANES = { firstBlockBytes: 65_536, leastBlockBytes: 16_384, silenceSeconds: 1 };

let overlay: TestOverlay;
let origin: StubbornOrigin;
let url = '';
let depots = 0;
let entry = '';

const download = (...between: readonly string[]) =>
  fetchRaw(overlay.relayUrl(url, { chains: [[entry, ...between]], lanes: 4 }, entry));
const wasAskedSingly = () => overlay.depot(entry).events.some(({ type }) => type === 'lanes-asked-singly');

const TAKE_IT: readonly Manner[] = ['well', 'interim', 'other-version-each'];
const CANNOT: readonly Manner[] = [
  'ends-unsaid',
  'ends-said',
  'first-only',
  'resets',
  'last-first',
  'one-range-for-all',
  'length-and-chunks',
  'chunks',
];
const DIFFER: readonly Manner[] = ['whole-now-and-then', 'range-unsaid', 'shorter-parts', 'other-total'];

describe.each(await testPlanes())('a download over lanes, over %s,', (_plane, splice) => {
  beforeAll(async () => {
    origin = new StubbornOrigin(FILE);
    const port = await origin.listen();
    url = `http://127.0.0.1:${port}/file.bin`;
    overlay = await startTestOverlay([], () => {}, splice, {
      config: { addresses: { allow: [{ network: '127.0.0.0/8', ports: [port] }] } },
    });
  });
  afterAll(async () => {
    await overlay.close();
    await origin.close();
    await splice?.close();
  });
  // A depot remembers how an origin is to be asked.
  beforeEach(async () => {
    depots += 1;
    entry = `entry${depots}`;
    await overlay.addDepot(entry, { lanes: LANES });
  });

  test.each(TAKE_IT)('asks an origin ahead that takes it: %s', async (manner) => {
    origin.begin(manner);
    const { body, broken } = await download();
    expect(broken).toBeUndefined();
    expect(body.equals(FILE)).toBe(true);
    expect(origin.mostWaiting).toBeGreaterThan(0);
    expect(wasAskedSingly()).toBe(false);
  });

  test.each(CANNOT)(
    'comes whole from an origin that cannot be asked ahead, which is then asked singly: %s',
    async (manner) => {
      // Where the other lanes have brought all before an answer is missed, a later download finds it out.
      while (!wasAskedSingly()) {
        origin.begin(manner);
        const { body, broken } = await download();
        expect(broken).toBeUndefined();
        expect(body.equals(FILE)).toBe(true);
      }
      expect(wasAskedSingly()).toBe(true);
      // And remembered: the next download does not try.
      origin.begin(manner);
      const next = await download();
      expect(next.broken).toBeUndefined();
      expect(next.body.equals(FILE)).toBe(true);
      expect(origin.mostWaiting).toBe(0);
    },
  );

  test('of so little that it comes with its head says nothing of the origin', async () => {
    const ask = async (headers = {}) => {
      origin.begin('well');
      return fetchRaw(overlay.relayUrl(url, { chains: [[entry]], lanes: 4 }, entry), { headers });
    };
    expect((await ask()).body.equals(FILE)).toBe(true);
    const end = await ask({ range: `bytes=${FILE.length - 1000}-` });
    expect(end.body.equals(FILE.subarray(-1000))).toBe(true);
    expect(wasAskedSingly()).toBe(false);
    expect((await ask()).body.equals(FILE)).toBe(true);
    expect(origin.mostWaiting).toBeGreaterThan(0);
  });

  test('is asked ahead of an origin over other ways than the one that breaks what it carries', async () => {
    const middle = `middle${depots}`;
    await overlay.addDepot(middle, { limits: { tunnelsPerJob: 100 } });
    const isAskedAhead = async (...between: readonly string[]) => {
      origin.begin('well');
      const { body, broken } = await download(...between);
      expect(broken).toBeUndefined();
      expect(body.equals(FILE)).toBe(true);
      return origin.mostWaiting > 0;
    };
    // What comes over the depot between breaks, whoever of both it is.
    while (!wasAskedSingly()) {
      origin.begin('resets');
      expect((await download(middle)).body.equals(FILE)).toBe(true);
    }
    expect(wasAskedSingly()).toBe(true);
    expect([await isAskedAhead(middle), await isAskedAhead()]).toEqual([false, true]);
  });

  test.each(DIFFER)('comes whole from an origin that does not always answer alike: %s', async (manner) => {
    origin.begin(manner);
    const { body, broken } = await download();
    expect(broken).toBeUndefined();
    expect(body.equals(FILE)).toBe(true);
  });
});
