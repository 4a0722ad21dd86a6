import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { readDepotConfig } from '../config.ts';
import { SOCKET_OPTIONS } from '../kernel/linux-constants.ts';
import { type Kernel, openKernel } from '../kernel/open-kernel.ts';
import { descriptorUnder } from '../sockets/held-descriptor.ts';
import { DEFAULT_LEG_TABLE } from '../sockets/leg-options.ts';
import type { SocketReport } from '../sockets/leg-sockets.ts';
import { openUplink } from './open-uplink.ts';
import { createUplinkPacer } from './uplink-pacer.ts';

const { kernel } = openKernel();
const CLIENT = { legClass: 'client' } as const;

const toClose: Socket[] = [];
afterEach(() => {
  for (const socket of toClose.splice(0)) socket.destroy();
});

async function pair(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer({ pauseOnConnect: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const near = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  const [[far]] = await Promise.all([accepted, once(near, 'connect')]);
  server.close();
  for (const socket of [near, far]) toClose.push(socket.on('error', () => {}));
  return { near, far };
}

/** Bits per second that the kernel holds a connection to; `undefined` for none. */
function paceOf(from: Kernel, stream: Socket): number | undefined {
  const into = from.buffer(8);
  from.readOption(descriptorUnder(stream) ?? -1, SOCKET_OPTIONS.maxPacingRate, into);
  const rate = into.bytes.getBigUint64(0, true);
  return rate === 0xffff_ffff_ffff_ffffn ? undefined : Number(rate) * 8;
}

test('a rate that is no rate of a line is refused by name', () => {
  const read = (uplink: object) =>
    readDepotConfig({
      id: 'd1',
      listen: { host: '127.0.0.1', port: 0 },
      stateDir: '/tmp/state',
      master: { url: 'http://127.0.0.1:1', enrolmentSecretFile: 'secret' },
      uplink,
    });
  expect(() => read({ rateBps: 100 })).toThrow('uplink.rateBps: must be at least 1000000 bits per second');
  expect(() => read({ rateMbps: 100 })).toThrow('uplink.rateMbps: there is no such key');
  expect(read({ rateBps: 1e9 }).uplink).toEqual({ rateBps: 1e9 });
});

test('where the kernel cannot pace, that is said once and everything goes on', () => {
  const reports: SocketReport[] = [];
  const config = { uplink: { rateBps: 1e8 }, sockets: DEFAULT_LEG_TABLE };
  const access = { kernel: undefined, reason: 'no Linux' };
  expect(openUplink(config, access, (report) => reports.push(report))).toBeUndefined();
  expect(reports).toEqual([{ what: 'uplink-not-shared', reason: 'no Linux' }]);
  expect(
    openUplink({ ...config, uplink: undefined }, access, (report) => reports.push(report)),
  ).toBeUndefined();
  expect(reports).toHaveLength(1);
});

test.runIf(kernel)('a connection that the kernel does not pace is reported, and once', async () => {
  const reports: SocketReport[] = [];
  const config = { uplink: { rateBps: 1e8 }, sockets: DEFAULT_LEG_TABLE };
  const refusing = { ...kernel, setLargeNumber: () => -95 } as Kernel;
  const uplink = openUplink(config, { kernel: refusing }, (report) => reports.push(report));
  const { near } = await pair();
  uplink?.join(near, { jobId: 'a', ...CLIENT })();
  expect(reports).toEqual([{ what: 'uplink-not-shared', reason: expect.stringContaining('not supported') }]);
});

describe.runIf(kernel)('paced connections (Linux with koffi)', () => {
  function makePacer(maxPacingBps?: number) {
    if (!kernel) throw new Error('there is no kernel');
    const pacer = createUplinkPacer({
      rateBps: 80e6,
      kernel,
      maxPacingBps: () => maxPacingBps,
      onRefused: (errno) => expect.fail(`refused: ${errno}`),
    });
    return { pacer, paceOf: (stream: Socket) => paceOf(kernel, stream) };
  }

  test('have equal shares by job, and are unlimited again when they have left', async () => {
    const { pacer, paceOf: pace } = makePacer();
    const [one, two, three] = [(await pair()).near, (await pair()).near, (await pair()).near];
    const leaveOne = pacer.join(one, { jobId: 'a', ...CLIENT });
    expect(pace(one)).toBe(80e6);
    const leaves = [two, three].map((stream) => pacer.join(stream, { jobId: 'b', ...CLIENT }));
    await expect.poll(() => [one, two, three].map(pace)).toEqual([40e6, 20e6, 20e6]);
    expect(pacer.use()).toEqual({ rateBps: 80e6, jobs: 2, topShareBps: 40e6 });
    for (const leave of [...leaves, ...leaves]) leave();
    await expect.poll(() => [one, two, three].map(pace)).toEqual([80e6, undefined, undefined]);
    leaveOne();
    expect(pace(one)).toBeUndefined();
    expect(pacer.use()).toEqual({ rateBps: 80e6, jobs: 0, topShareBps: 80e6 });
  });

  test('never exceed what their class is configured to, and go back to that', async () => {
    const { pacer, paceOf: pace } = makePacer(8e6);
    const { near } = await pair();
    const leave = pacer.join(near, { jobId: 'a', ...CLIENT });
    expect(pace(near)).toBe(8e6);
    leave();
    expect(pace(near)).toBe(8e6);
  });

  test('keep their pace until the kernel has sent what it still holds', async () => {
    const { pacer, paceOf: pace } = makePacer();
    const { near, far } = await pair();
    const leave = pacer.join(near, { jobId: 'a', ...CLIENT });
    near.write(Buffer.alloc(20_000_000));
    leave();
    expect(pace(near)).toBe(80e6);
    expect(pacer.use().jobs).toBe(1);
    far.resume();
    await expect.poll(() => pacer.use().jobs, { timeout: 10_000 }).toBe(0);
    expect(pace(near)).toBeUndefined();
  });

  test('have the pace of their next answer when that begins before the last one has gone out', async () => {
    const { pacer, paceOf: pace } = makePacer();
    const { near } = await pair();
    const leave = pacer.join(near, { jobId: 'a', ...CLIENT });
    near.write(Buffer.alloc(20_000_000));
    leave();
    const leaveNext = pacer.join(near, { jobId: 'b', ...CLIENT });
    leave();
    expect(pacer.use().jobs).toBe(1);
    expect(pace(near)).toBe(80e6);
    leaveNext();
  });

  test('are forgotten when they are gone, whoever forgets to say so', async () => {
    const { pacer } = makePacer();
    const { near } = await pair();
    pacer.join(near, { jobId: 'a', ...CLIENT });
    near.destroy();
    await expect.poll(() => pacer.use().jobs).toBe(0);
  });
});
