import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** The part of Node's own handle of a TCP or local socket that has no public way; the same since Node 10. */
interface SocketHandle {
  readonly fd: number;
  reading: boolean;
  readonly readStart: () => number;
  readonly readStop: () => number;
}

/** Names that Node gives to handles of TCP sockets and of local ones. */
const KINDS: ReadonlySet<string> = new Set(['TCP', 'Pipe']);

/** Whether this is a connected TCP socket with nothing between it and the kernel. */
export function isPlainTcp(stream: Duplex): stream is Socket {
  if (!(stream instanceof Socket) || stream instanceof TLSSocket) return false;
  if (stream.destroyed || stream.connecting) return false;
  return handleOf(stream)?.constructor.name === 'TCP';
}

/** The descriptor of a TCP or local socket; `undefined` where it has none any more or is another kind of socket. */
export function descriptorOf(socket: Socket): number | undefined {
  return handleOf(socket)?.fd;
}

/**
 * Stops Node from reading this socket and returns what it has read and nobody has taken. Until `resumeReading` the
 * kernel keeps what comes.
 */
export function stopReading(socket: Socket): Buffer {
  socket.pause();
  const chunks: Buffer[] = [];
  for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null)
    chunks.push(chunk);
  // Last, because `read` starts the handle again.
  const handle = handleOf(socket);
  if (handle) {
    handle.reading = false;
    handle.readStop();
  }
  return Buffer.concat(chunks);
}

/** Lets Node read again, into the buffer of a paused stream. */
export function resumeReading(socket: Socket): void {
  const handle = handleOf(socket);
  if (!handle || socket.readableEnded) return;
  handle.reading = true;
  handle.readStart();
}

function handleOf(socket: Socket): SocketHandle | undefined {
  const handle: unknown = Reflect.get(socket, '_handle');
  const isKnown = typeof handle === 'object' && handle !== null && KINDS.has(handle.constructor.name);
  if (!isKnown || !('fd' in handle) || typeof handle.fd !== 'number' || handle.fd < 0) return undefined;
  return handle as unknown as SocketHandle;
}
