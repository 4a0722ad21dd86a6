import { createServer } from 'node:net';
import { constants } from 'node:os';
import { describe, expect, test } from 'vitest';
import { socketPair } from '../relay/promises/socket-pair.ts';
import { SOCKET, SOCKET_OPTIONS } from './linux-constants.ts';
import { openKernel } from './open-kernel.ts';
import { descriptorOf, isPlainTcp } from './tcp-handle.ts';

const { EADDRINUSE, EBADF, EINVAL, ENOENT } = constants.errno;
const NO_DESCRIPTOR = 1_000_000;
const access = openKernel();
const { kernel } = access;
const why = access.kernel ? '' : ` (skipped: ${access.reason})`;

test('without Linux there are no calls, and that is said', () => {
  expect(openKernel('darwin')).toEqual({ kernel: undefined, reason: 'darwin is not Linux' });
});

describe.skipIf(!kernel)(`calls of the kernel${why}`, () => {
  if (!kernel) return;

  test('that fail say why by an errno below 0, and do not throw', async () => {
    expect(kernel.duplicate(NO_DESCRIPTOR)).toBe(-EBADF);
    expect(kernel.setNumber(NO_DESCRIPTOR, SOCKET_OPTIONS.noDelay, 1)).toBe(-EBADF);
    expect(kernel.readOption(NO_DESCRIPTOR, SOCKET_OPTIONS.info, kernel.buffer(8))).toBe(-EBADF);
    expect(kernel.readNumber(NO_DESCRIPTOR, SOCKET_OPTIONS.noDelay)).toBeUndefined();
    expect(kernel.splice(NO_DESCRIPTOR, NO_DESCRIPTOR, 1)).toBe(-EBADF);
    const socket = kernel.openSocket(4, SOCKET.tcp);
    expect(kernel.setText(socket, SOCKET_OPTIONS.congestion, 'nosuch')).toBe(-ENOENT);
    expect(kernel.bindSocket(socket, 'no address', 0)).toBe(-EINVAL);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const taken = server.address();
    const port = typeof taken === 'object' && taken ? taken.port : 0;
    expect(kernel.bindSocket(socket, '127.0.0.1', port)).toBe(-EADDRINUSE);
    kernel.close(socket);
    await new Promise((resolve) => server.close(resolve));
  });

  test('reach the socket behind a connection of Node, and only while it is one', async () => {
    const [one, other] = await socketPair();
    const descriptor = descriptorOf(one) ?? -1;
    expect(isPlainTcp(one)).toBe(true);
    expect(kernel.setNumber(descriptor, SOCKET_OPTIONS.keepIdle, 77)).toBe(0);
    const copy = kernel.duplicate(descriptor);
    expect(kernel.readNumber(copy, SOCKET_OPTIONS.keepIdle)).toBe(77);
    kernel.close(copy);
    one.destroy();
    other.destroy();
    expect(descriptorOf(one)).toBeUndefined();
    expect(isPlainTcp(one)).toBe(false);
  });
});
