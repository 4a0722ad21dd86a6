import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTrafficKernel } from './kernel.ts';
import { createSink } from './sink.ts';
import type { FlowOrder } from './traffic-order.ts';

// Rejects where koffi has no binary, and where the calls are not Linux's.
const kernel = await openTrafficKernel().catch(() => undefined);

describe.skipIf(!kernel)('source and sink (need Linux and koffi)', () => {
  let source: ChildProcess;
  let order: FlowOrder;

  beforeAll(async () => {
    source = spawn(process.execPath, [join(import.meta.dirname, 'source-main.ts')], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const [{ ready }] = (await once(source, 'message')) as [{ ready: { url: string } }];
    const { host, hostname, port } = new URL(ready.url);
    order = {
      host: hostname,
      port: Number(port),
      way: { kind: 'get' },
      authority: host,
      flows: 5,
      bodyBytes: 1_000_003,
    };
  });
  afterAll(() => source.kill());

  it('carry every byte, looked at or not', async () => {
    const sink = createSink(await openTrafficKernel());
    expect(sink.take(order, true).receivedBytes).toBe(5 * 1_000_003);
    expect(sink.take({ ...order, flows: 300, bodyBytes: 10_000 }, false).receivedBytes).toBe(3_000_000);
  });

  it('hold connections whose source has fallen silent, and let them go', async () => {
    const sink = createSink(await openTrafficKernel());
    expect(sink.hold({ ...order, firstBytes: 1000 }, 1000).receivedBytes).toBe(5000);
    sink.release();
    expect(sink.take(order, true).receivedBytes).toBe(5 * 1_000_003);
  });

  it('hold connections that nobody reads', async () => {
    const sink = createSink(await openTrafficKernel());
    const { receivedBytes } = sink.hold({ ...order, bodyBytes: 1e12 }, 1);
    expect(receivedBytes).toBeGreaterThanOrEqual(5);
    sink.release();
  });

  it('fail when nobody listens', async () => {
    const sink = createSink(await openTrafficKernel());
    expect(() => sink.take({ ...order, port: 9 }, false)).toThrow('errno');
  });

  it('fail when the answer is no body', async () => {
    const sink = createSink(await openTrafficKernel());
    const asked: FlowOrder = { ...order, way: { kind: 'connect', authorization: 'none' } };
    expect(() => sink.take(asked, false)).toThrow(/404/);
  });
});
