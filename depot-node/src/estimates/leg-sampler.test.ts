import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openKernel } from '../kernel/open-kernel.ts';
import { descriptorUnder } from '../sockets/held-descriptor.ts';
import { resetConnection } from '../sockets/reset.ts';
import { createLegSampler } from './leg-sampler.ts';

const access = openKernel();
const { kernel } = access;

afterEach(() => {
  vi.useRealTimers();
});

async function pair(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const near = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  const [far] = await accepted;
  for (const socket of [near, far]) socket.on('error', () => {});
  server.close();
  return { near, far };
}

async function carry(from: Socket, to: Socket, sizeBytes: number): Promise<void> {
  let received = 0;
  const all = new Promise<void>((resolve) => {
    const onData = (chunk: Buffer) => {
      received += chunk.length;
      if (received < sizeBytes) return;
      to.off('data', onData);
      resolve();
    };
    to.on('data', onData);
  });
  from.write(Buffer.alloc(sizeBytes));
  await all;
}

test('without calls of the kernel a leg ends without a measure', async () => {
  const { near, far } = await pair();
  const sampler = createLegSampler(undefined);
  const leg = sampler.watch(near, { legClass: 'depot', depot: 'd2' });
  expect(leg.stop()).toEqual({ legClass: 'depot', depot: 'd2', measure: undefined });
  expect(sampler.takeLinkReports()).toEqual([]);
  near.destroy();
  far.destroy();
});

describe.runIf(kernel)('watched legs (Linux with koffi)', () => {
  test('are measured at their end, however short they were', async () => {
    const { near, far } = await pair();
    const sampler = createLegSampler(kernel);
    const leg = sampler.watch(near, { legClass: 'client' });
    await carry(near, far, 200_000);
    const { measure } = leg.stop();
    expect(measure).toMatchObject({ sentBytes: 200_000, lossRate: 0 });
    expect(measure?.minRttMs).toBeGreaterThan(0);
    expect(sampler.totals('client')).toMatchObject({ legs: 1, sentBytes: 200_000 });
    near.destroy();
    far.destroy();
  });

  test('are measured to their end also when the other side leaves first', async () => {
    const { near, far } = await pair();
    const sampler = createLegSampler(kernel);
    const leg = sampler.watch(near, { legClass: 'client' });
    await carry(near, far, 200_000);
    near.resume();
    far.end();
    await once(near, 'close');
    expect(leg.stop().measure).toMatchObject({ sentBytes: 200_000 });
    far.destroy();
  });

  test('are looked at every second, and their link is reported while they run', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { near, far } = await pair();
    let nowMs = 0;
    const sampler = createLegSampler(kernel, { nowMs: () => nowMs });
    const leg = sampler.watch(near, { legClass: 'depot', depot: 'd2' });
    await carry(near, far, 100_000);
    nowMs = 1000;
    vi.advanceTimersByTime(1000);
    expect(leg.measure()).toMatchObject({ seconds: 1, sentBytes: 100_000 });
    expect(sampler.takeLinkReports()).toEqual([expect.objectContaining({ to: 'd2' })]);
    // A socket that is gone cannot be looked at: what was seen last counts.
    near.destroy();
    await once(near, 'close');
    expect(leg.stop().measure).toMatchObject({ sentBytes: 100_000 });
    expect(vi.getTimerCount()).toBe(0);
    far.destroy();
  });

  test('are looked at ever less often while nothing moves, and every second again once something has', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { near, far } = await pair();
    let looks = 0;
    const counted = kernel && {
      ...kernel,
      readOption: (...asked: Parameters<typeof kernel.readOption>) => {
        looks += 1;
        return kernel.readOption(...asked);
      },
    };
    const looksIn = (seconds: number) => {
      looks = 0;
      vi.advanceTimersByTime(seconds * 1000);
      return looks;
    };
    const leg = createLegSampler(counted).watch(near, { legClass: 'depot', depot: 'd2' });
    await carry(near, far, 10_000);
    expect(looksIn(1)).toBe(1);
    expect(looksIn(1000)).toBeLessThan(150);
    await carry(near, far, 10_000);
    let waitedSeconds = 1;
    while (looksIn(1) === 0) waitedSeconds += 1;
    expect(waitedSeconds).toBeLessThanOrEqual(8);
    expect(looksIn(1)).toBe(1);
    expect(leg.stop().measure).toMatchObject({ sentBytes: 20_000 });
    near.destroy();
    far.destroy();
  });

  test('are measured to the last byte where their socket was handed over, and then reset all the same', async () => {
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const before = descriptors();
    const { near, far } = await pair();
    const sampler = createLegSampler(kernel);
    const leg = sampler.watch(near, { legClass: 'depot', handedOver: true });
    await carry(near, far, 100_000);
    const failure = once(far, 'error');
    resetConnection(near);
    await once(near, 'close');
    expect(leg.stop().measure).toMatchObject({ sentBytes: 100_000 });
    expect((await failure)[0]).toMatchObject({ code: 'ECONNRESET' });
    expect(leg.stop().measure).toMatchObject({ sentBytes: 100_000 });
    await expect.poll(descriptors).toBeLessThanOrEqual(before);
  });

  test('can be given as bare descriptors, which may be closed meanwhile', async () => {
    const { near, far } = await pair();
    const sampler = createLegSampler(kernel);
    const leg = sampler.watch(descriptorUnder(near) ?? -1, { legClass: 'origin' });
    await carry(far, near, 50_000);
    near.destroy();
    await once(near, 'close');
    expect(leg.stop().measure).toMatchObject({ receivedBytes: 50_000 });
    await once(far.resume(), 'end');
    far.destroy();
  });

  test('that are closed already go unmeasured', async () => {
    const { near, far } = await pair();
    near.destroy();
    await once(near, 'close');
    const sampler = createLegSampler(kernel);
    expect(sampler.watch(near, { legClass: 'client' }).stop().measure).toBeUndefined();
    expect(sampler.watch(-1, { legClass: 'client' }).stop().measure).toBeUndefined();
    far.destroy();
  });
});
