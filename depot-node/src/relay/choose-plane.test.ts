import { PassThrough } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { isPlainTcp } from '../kernel/tcp-handle.ts';
import { createRelay } from './choose-plane.ts';
import { socketPair } from './promises/socket-pair.ts';
import type { BodyOptions, PlaneKind, RelayPlane } from './relay-plane.ts';
import type { SplicePlane } from './splice-plane.ts';

const BIG_BODY_BYTES = 262_144;
const { signal } = new AbortController();
const timeouts = { silenceMs: 1000, halfClosedSilenceMs: 1000, stallMs: 1000 };
const cleanup: (() => void)[] = [];
afterEach(() => {
  for (const undo of cleanup.splice(0)) undo();
});

async function plainPair() {
  const [outer, inner] = await socketPair();
  cleanup.push(() => outer.destroy());
  return [outer, inner] as const;
}

/** A splice plane that only says what it was asked for. */
function fakeSplice(asked: string[], isAlive = true): SplicePlane {
  const tunnel: RelayPlane['tunnel'] = () => {
    asked.push('tunnel');
    return Promise.resolve({ outcome: 'complete', bytesUp: 0, bytesDown: 0 });
  };
  const body: RelayPlane['body'] = (_source, _sink, { sizeBytes }: BodyOptions) => {
    asked.push('body');
    return Promise.resolve({ outcome: 'complete', bytes: sizeBytes });
  };
  return {
    kind: 'splice',
    tunnel,
    body,
    merge: async () => undefined,
    openDigest: () => undefined,
    canMove: isPlainTcp,
    tls: { reason: 'not in this test' },
    isAlive: () => isAlive,
    threads: () => (isAlive ? 1 : 0),
    rest: () => undefined,
    close: () => Promise.resolve(),
  };
}

test('tunnels and big bodies between plain connections go through the kernel', async () => {
  const [one, other] = await plainPair();
  const asked: string[] = [];
  const kinds: PlaneKind[] = [];
  const relay = createRelay({ splice: fakeSplice(asked), onFlow: (kind) => kinds.push(kind) });
  await relay.tunnel(one, other, { ...timeouts, signal });
  await relay.body(one, other, { ...timeouts, sizeBytes: BIG_BODY_BYTES, signal });
  expect(asked).toEqual(['tunnel', 'body']);
  expect(kinds).toEqual(['splice', 'splice']);
});

test('small bodies, other streams and everything without the kernel go through Node', async () => {
  const [one, other] = await plainPair();
  const asked: string[] = [];
  const kinds: PlaneKind[] = [];
  const onFlow = (kind: PlaneKind) => kinds.push(kind);
  const small = createRelay({ splice: fakeSplice(asked), onFlow });
  const cancelled = AbortSignal.abort();
  await small.body(one, other, { ...timeouts, sizeBytes: BIG_BODY_BYTES - 1, signal: cancelled });
  await small.body(new PassThrough(), other, { ...timeouts, sizeBytes: BIG_BODY_BYTES, signal: cancelled });
  for (const splice of [undefined, fakeSplice(asked, false)]) {
    const relay = createRelay({ splice, onFlow });
    await relay.body(one, other, { ...timeouts, sizeBytes: BIG_BODY_BYTES, signal: cancelled });
  }
  expect(asked).toEqual([]);
  expect(kinds).toEqual(['streams', 'streams', 'streams', 'streams']);
});
