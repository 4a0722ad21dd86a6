import { constants } from 'node:os';
import type { DescriptorCalls } from '../kernel/descriptor-calls.ts';
import { type MemoryCalls, SMALLEST_BUFFER_BYTES } from '../kernel/libc.ts';
import type { Pipe, SpliceCalls } from '../kernel/splice-calls.ts';
import { PIPE_BYTES, type PipePool } from './pipe-pool.ts';

const { EAGAIN, EINTR } = constants.errno;
/** Read at once when there is no descriptor left for a pipe. */
const COPY_BYTES = 65_536;

/** One socket of a flow, with what is known of it since its last event. */
export interface End {
  readonly descriptor: number;
  readable: boolean;
  writable: boolean;
  /** An error waits on the socket, perhaps behind bytes that can still be read. */
  failed: boolean;
}

/** Bytes in memory, in front of everything that is still in the source's socket. */
export interface HeldBytes {
  readonly buffer: ArrayBuffer;
  readonly address: number;
  offset: number;
  readonly end: number;
}

/**
 * Bytes on their way from one end to the other. New ones are taken only when nothing is held: then nothing is lost when
 * the source breaks, and `EAGAIN` of a splice into the pipe can only mean that the source is dry.
 */
export interface Direction {
  readonly source: End;
  readonly sink: End;
  /** Bytes still to be taken from the source's socket; `Infinity` for all. */
  wanted: number;
  held: HeldBytes | undefined;
  pipe: Pipe | undefined;
  inPipe: number;
  /** Bytes handed to the sink's kernel. */
  delivered: number;
  sourceEnded: boolean;
}

export type Step = 'moved' | 'waiting' | 'source-broke' | 'sink-broke';

export type DirectionKernel = Pick<
  SpliceCalls & DescriptorCalls & MemoryCalls,
  'splice' | 'read' | 'write' | 'addressOf'
>;

export function createDirection(source: End, sink: End, wanted: number, held?: HeldBytes): Direction {
  return { source, sink, wanted, held, pipe: undefined, inPipe: 0, delivered: 0, sourceEnded: false };
}

/** Puts bytes where the kernel can read them. */
export function holdBytes(kernel: Pick<MemoryCalls, 'addressOf'>, bytes: Uint8Array): HeldBytes | undefined {
  if (bytes.length === 0) return undefined;
  const buffer = new ArrayBuffer(Math.max(bytes.length, SMALLEST_BUFFER_BYTES));
  new Uint8Array(buffer).set(bytes);
  return { buffer, address: kernel.addressOf(buffer), offset: 0, end: bytes.length };
}

/** Bytes taken and not yet delivered. */
export function undelivered({ held, inPipe }: Direction): number {
  return inPipe + (held ? held.end - held.offset : 0);
}

/** One move in and one move out, at most. `moved` says that another step may go further. */
export function step(direction: Direction, kernel: DirectionKernel, pipes: PipePool): Step {
  let moved = false;
  if (undelivered(direction) === 0 && !direction.sourceEnded && direction.wanted > 0) {
    if (!direction.source.readable) return 'waiting';
    const taken = take(direction, kernel, pipes);
    if (taken < 0) {
      releasePipe(direction, pipes);
      if (taken === -EINTR) return 'moved';
      if (taken !== -EAGAIN) return 'source-broke';
      direction.source.readable = false;
      return 'waiting';
    }
    if (taken === 0) direction.sourceEnded = true;
    direction.wanted -= taken;
    moved = true;
  }
  if (undelivered(direction) > 0 && direction.sink.writable) {
    const given = deliver(direction, kernel);
    if (given === -EAGAIN) direction.sink.writable = false;
    else if (given < 0 && given !== -EINTR) return 'sink-broke';
    else moved = true;
  }
  releasePipe(direction, pipes);
  return moved ? 'moved' : 'waiting';
}

/** Takes from the source: into a pipe, or into memory when there is none. */
function take(direction: Direction, kernel: DirectionKernel, pipes: PipePool): number {
  const { source, wanted } = direction;
  direction.pipe ??= pipes.take();
  if (direction.pipe) {
    const taken = kernel.splice(source.descriptor, direction.pipe.input, Math.min(wanted, PIPE_BYTES));
    if (taken > 0) direction.inPipe = taken;
    return taken;
  }
  const buffer = new ArrayBuffer(COPY_BYTES);
  const address = kernel.addressOf(buffer);
  const taken = kernel.read(source.descriptor, address, Math.min(wanted, COPY_BYTES));
  if (taken > 0) direction.held = { buffer, address, offset: 0, end: taken };
  return taken;
}

/** Gives to the sink what is held, oldest first. */
function deliver(direction: Direction, kernel: DirectionKernel): number {
  const { held, pipe, sink } = direction;
  if (held) {
    const given = kernel.write(sink.descriptor, held.address + held.offset, held.end - held.offset);
    if (given < 0) return given;
    held.offset += given;
    direction.delivered += given;
    if (held.offset === held.end) direction.held = undefined;
    return given;
  }
  if (!pipe) return 0;
  const given = kernel.splice(pipe.output, sink.descriptor, direction.inPipe);
  if (given < 0) return given;
  direction.inPipe -= given;
  direction.delivered += given;
  return given;
}

/** An empty pipe goes back at once: only flows that hold bytes cost descriptors. */
function releasePipe(direction: Direction, pipes: PipePool): void {
  if (!direction.pipe || direction.inPipe > 0) return;
  pipes.give(direction.pipe);
  direction.pipe = undefined;
}

/** Takes back what has not been delivered, in order, and leaves nothing behind. */
export function takeBack(
  direction: Direction,
  kernel: DirectionKernel,
  pipes: PipePool,
): Uint8Array<ArrayBuffer> {
  const { held, pipe } = direction;
  const rest = new Uint8Array(Math.max(undelivered(direction), SMALLEST_BUFFER_BYTES));
  let filled = 0;
  if (held) {
    rest.set(new Uint8Array(held.buffer, held.offset, held.end - held.offset));
    filled = held.end - held.offset;
    direction.held = undefined;
  }
  const address = kernel.addressOf(rest.buffer);
  if (pipe) {
    while (direction.inPipe > 0) {
      const read = kernel.read(pipe.output, address + filled, direction.inPipe);
      if (read <= 0) break;
      filled += read;
      direction.inPipe -= read;
    }
  }
  discardBytes(direction, pipes);
  return rest.subarray(0, filled);
}

/** Drops what has not been delivered. */
export function discardBytes(direction: Direction, pipes: PipePool): void {
  direction.held = undefined;
  if (direction.pipe && direction.inPipe > 0) pipes.discard(direction.pipe);
  else if (direction.pipe) pipes.give(direction.pipe);
  direction.pipe = undefined;
  direction.inPipe = 0;
}
