import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type Kernel, openKernel } from '../kernel/open-kernel.ts';
import { descriptorOf } from '../kernel/tcp-handle.ts';
import { receive, socketPair } from './promises/socket-pair.ts';
import { type FlowCommand, startRelayThread } from './relay-thread.ts';
import { spliceBody } from './splice-body.ts';
import { openSplicePlane } from './splice-plane.ts';
import { spliceTunnel } from './splice-tunnel.ts';

const probe = await openSplicePlane();
if (probe.ok) await probe.plane.close();
const why = probe.ok ? '' : ` (skipped: ${probe.reason})`;

const LONG = { silenceMs: 60_000, halfClosedSilenceMs: 60_000, stallMs: 60_000 };
const sockets: Socket[] = [];
const children: ChildProcess[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function pair(): Promise<[Socket, Socket]> {
  const made = await socketPair();
  sockets.push(...made);
  return made;
}

/** A process that joins its first two connections in the kernel. */
const RELAY_PROCESS = `
  const { createServer } = await import('node:net');
  const { openSplicePlane } = await import(${JSON.stringify(new URL('./splice-plane.ts', import.meta.url).href)});
  const { plane } = await openSplicePlane();
  const ends = [];
  const { signal } = new AbortController();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (ends.push(socket) < 2) return;
    server.close();
    plane.tunnel(ends[0], ends[1], { silenceMs: 60_000, halfClosedSilenceMs: 60_000, signal });
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
  process.once('SIGTERM', () => process.exit(7));
`;

function run(code: string): ChildProcess {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

/** A process with a tunnel between two connections of ours, through which bytes have gone. */
async function processWithTunnel() {
  const child = run(RELAY_PROCESS);
  const exit = once(child, 'exit');
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  const dial = async () => {
    const socket = connect({ port: Number(line.toString()), host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  const [client, server] = [await dial(), await dial()];
  const [atClient, atServer] = [receive(client), receive(server)];
  client.write('question');
  server.write('partial');
  await Promise.all([atServer.until(8), atClient.until(7)]);
  return { child, exit, client, server, atClient, atServer };
}

describe.skipIf(!probe.ok)(`a relay thread${why}`, () => {
  test('lets a process end that has nothing to relay', async () => {
    const { client, server, exit } = await processWithTunnel();
    client.end();
    server.end();
    expect(await exit).toEqual([0, null]);
  });

  test.each([
    ['exits', 'SIGTERM', [7, null]],
    ['is killed', 'SIGKILL', [null, 'SIGKILL']],
  ] as const)('resets its tunnels when the process %s', async (_how, signal, status) => {
    const { child, exit, atClient, atServer } = await processWithTunnel();
    child.kill(signal);
    expect(await exit).toEqual(status);
    expect(await Promise.all([atClient.end, atServer.end])).toEqual(['ECONNRESET', 'ECONNRESET']);
  });

  test('resets its flows when it crashes, says so once, and takes no others', async () => {
    const kernel = kernelOf();
    const crashes: unknown[] = [];
    const thread = await startRelayThread(kernel, (cause) => crashes.push(cause));
    const components = { kernel, threads: { idlest: () => thread, homeOf: () => undefined } };
    const [[client, down], [server, up], [origin, source], [reader, sink]] = await Promise.all([
      pair(),
      pair(),
      pair(),
      pair(),
    ]);
    const ends = [client, server, origin, reader].map((socket) => receive(socket));
    const { signal } = new AbortController();
    const tunnel = spliceTunnel(components, down, up, { ...LONG, signal });
    const body = spliceBody(components, source, sink, { ...LONG, sizeBytes: 1_000_000, signal });
    client.write('through the tunnel');
    origin.write('some of the body');
    await Promise.all([ends[1]?.until(18), ends[3]?.until(16)]);

    const [lost, lostInner] = await pair();
    const lostEnd = receive(lost);
    const bad = { type: 'tunnel', downstream: duplicateOf(kernel, lostInner), upstream: 1_000_000 };
    lostInner.destroy();
    const lostReport = new Promise((resolve) => {
      thread.start(bad as unknown as FlowCommand, { onProgress: () => undefined, onFinished: resolve });
    });
    expect(await lostReport).toMatchObject({ end: 'relay-failed' });
    expect(await tunnel).toMatchObject({ outcome: 'broke', reason: 'relay-failed', bytesUp: 18 });
    expect(await body).toMatchObject({ outcome: 'sink-broke' });
    expect(await Promise.all(ends.map((each) => each.end))).toEqual(Array(4).fill('ECONNRESET'));
    expect(await lostEnd.end).toBe('ECONNRESET');
    await expect.poll(() => crashes.length).toBe(1);
    expect(thread.isAlive()).toBe(false);
    await thread.close();

    const [[late, lateInner], [other, otherInner]] = await Promise.all([pair(), pair()]);
    const moved = spliceTunnel(components, lateInner, otherInner, { ...LONG, signal });
    late.end('still served');
    other.end();
    expect((await receive(other).all()).toString()).toBe('still served');
    expect(await moved).toMatchObject({ outcome: 'complete', bytesUp: 12 });
  });

  test('resets what still runs when it is closed', async () => {
    const opened = await openSplicePlane();
    if (!opened.ok) throw new Error(opened.reason);
    const [[client, down], [server, up]] = await Promise.all([pair(), pair()]);
    const [atClient, atServer] = [receive(client), receive(server)];
    const { signal } = new AbortController();
    const outcome = opened.plane.tunnel(down, up, { ...LONG, signal });
    client.write('bytes');
    await atServer.until(5);
    await opened.plane.close();
    expect(await outcome).toMatchObject({ outcome: 'broke', reason: 'cancelled', bytesUp: 5 });
    expect(await Promise.all([atClient.end, atServer.end])).toEqual(['ECONNRESET', 'ECONNRESET']);
  });

  test('leaves a flow to Node when there is no descriptor to hand over', async () => {
    const kernel = kernelOf();
    const thread = await startRelayThread(kernel, () => undefined);
    const components = {
      kernel: { ...kernel, duplicate: () => -24 },
      threads: { idlest: () => thread, homeOf: () => undefined },
    };
    const { signal } = new AbortController();
    const [[client, down], [server, up]] = await Promise.all([pair(), pair()]);
    const outcome = spliceTunnel(components, down, up, { ...LONG, signal });
    client.end('request');
    server.end();
    expect((await receive(server).all()).toString()).toBe('request');
    expect(await outcome).toMatchObject({ outcome: 'complete', bytesUp: 7 });
    const [[origin, source], [, sink]] = await Promise.all([pair(), pair()]);
    origin.write('body');
    expect(await spliceBody(components, source, sink, { ...LONG, sizeBytes: 4, signal })).toEqual({
      outcome: 'complete',
      bytes: 4,
    });
    await thread.close();
  });
});

function kernelOf(): Kernel {
  const access = openKernel();
  if (!access.kernel) throw new Error(access.reason);
  return access.kernel;
}

function duplicateOf(kernel: Kernel, socket: Socket): number {
  const descriptor = descriptorOf(socket);
  if (descriptor === undefined) throw new Error('no descriptor');
  return kernel.duplicate(descriptor);
}
