import { constants } from 'node:os';
import type { DescriptorCalls } from '../kernel/descriptor-calls.ts';
import { type MemoryCalls, SMALLEST_BUFFER_BYTES } from '../kernel/libc.ts';
import type { Pipe, SpliceCalls } from '../kernel/splice-calls.ts';
import { BUFFER_BYTES, type BufferPool } from './buffer-pool.ts';
import type { End, HeldBytes } from './end.ts';
import { PIPE_BYTES, type PipePool } from './pipe-pool.ts';

const { EAGAIN, EINTR } = constants.errno;

/**
 * How long bytes gather that are to become records. A record of each packet that comes is 22 bytes and a
 * second packet more: a twentieth of the line, which a connection that is as fast cannot bring on, so that
 * its queue grows until it overflows.
 */
const GATHER_MS = 2;
/**
 * Nothing gathers before so much has passed, as handshakes, heads and short bodies; and four full records are
 * long enough.
 */
const MANY_BYTES = 65_536;

/**
 * Bytes on their way from one end to the other. New ones are taken only when nothing is held: then nothing is lost when
 * the source breaks, and `EAGAIN` of a splice into the pipe can only mean that the source is dry.
 */
export interface Direction {
  readonly source: End;
  readonly sink: End;
  /** Shown all bytes in order, as they are taken; they then pass through memory. */
  readonly onTaken: ((bytes: Uint8Array) => void) | undefined;
  /** Bytes still to be taken from the source's connection; `Infinity` for all. */
  wanted: number;
  held: HeldBytes | undefined;
  pipe: Pipe | undefined;
  inPipe: number;
  /** Bytes handed to the sink. */
  delivered: number;
  sourceEnded: boolean;
  /** The errno with which the sink broke; 0 before. */
  sinkError: number;
  /** Until then bytes gather in the source's connection. */
  gatherUntilMs: number;
}

/** `gathering`: bytes have come, but are taken a little later. */
export type Step = 'moved' | 'waiting' | 'gathering' | 'source-broke' | 'sink-broke';

/** What directions of one thread share. */
export interface DirectionComponents {
  readonly kernel: Pick<SpliceCalls & DescriptorCalls & MemoryCalls, 'splice' | 'read' | 'addressOf'>;
  readonly pipes: PipePool;
  readonly buffers: BufferPool;
}

interface DirectionInit {
  readonly wanted: number;
  /** Bytes in front of what comes from the source. */
  readonly held?: HeldBytes | undefined;
  readonly onTaken?: ((bytes: Uint8Array) => void) | undefined;
}

export function createDirection(
  source: End,
  sink: End,
  { wanted, held, onTaken }: DirectionInit = { wanted: Infinity },
): Direction {
  if (held) onTaken?.(new Uint8Array(held.buffer, held.offset, held.end - held.offset));
  return {
    source,
    sink,
    onTaken,
    wanted,
    held,
    pipe: undefined,
    inPipe: 0,
    delivered: 0,
    sourceEnded: false,
    sinkError: 0,
    gatherUntilMs: 0,
  };
}

/** Puts bytes where the kernel can read them. */
export function holdBytes(kernel: Pick<MemoryCalls, 'addressOf'>, bytes: Uint8Array): HeldBytes | undefined {
  if (bytes.length === 0) return undefined;
  const buffer = new ArrayBuffer(Math.max(bytes.length, SMALLEST_BUFFER_BYTES));
  new Uint8Array(buffer).set(bytes);
  return { buffer, address: kernel.addressOf(buffer), offset: 0, end: bytes.length, isPooled: false };
}

/** Bytes taken and not yet delivered. */
export function undelivered({ held, inPipe }: Direction): number {
  return inPipe + (held ? held.end - held.offset : 0);
}

/**
 * One move in and one move out, at most. `moved` says that another step may go further. Where the time is
 * given, bytes for a sink that makes records of them gather, once there have been many.
 */
export function step(direction: Direction, components: DirectionComponents, nowMs?: number): Step {
  let moved = false;
  const sent = direction.sink.writable ? (direction.sink.sendEarlier?.() ?? 0) : 0;
  if (sent === -EAGAIN) direction.sink.writable = false;
  else if (sent < 0) return sinkBroke(direction, sent);
  if (undelivered(direction) === 0 && !direction.sourceEnded && direction.wanted > 0) {
    if (!direction.source.readable) return 'waiting';
    if (nowMs !== undefined && nowMs < direction.gatherUntilMs) return 'gathering';
    const taken = take(direction, components);
    if (taken < 0) {
      releasePipe(direction, components.pipes);
      if (taken === -EINTR) return 'moved';
      if (taken !== -EAGAIN) return 'source-broke';
      direction.source.readable = false;
      return 'waiting';
    }
    if (taken === 0) direction.sourceEnded = true;
    direction.wanted -= taken;
    const makesRecords = nowMs !== undefined && !direction.sink.isPlain;
    if (makesRecords && direction.delivered >= MANY_BYTES && taken < MANY_BYTES)
      direction.gatherUntilMs = nowMs + GATHER_MS;
    moved = true;
  }
  if (undelivered(direction) > 0 && direction.sink.writable) {
    const given = deliver(direction, components);
    if (given === -EAGAIN) direction.sink.writable = false;
    else if (given < 0 && given !== -EINTR) return sinkBroke(direction, given);
    else moved = true;
  }
  releasePipe(direction, components.pipes);
  return moved ? 'moved' : 'waiting';
}

function sinkBroke(direction: Direction, result: number): Step {
  direction.sinkError = -result;
  return 'sink-broke';
}

/** Takes from the source: into a pipe, where the kernel can move the bytes and there is one, else into memory. */
function take(direction: Direction, { kernel, pipes, buffers }: DirectionComponents): number {
  const { source, sink, wanted, onTaken } = direction;
  const isSpliced = source.isPlain && sink.isPlain && onTaken === undefined;
  if (isSpliced) direction.pipe ??= pipes.take();
  if (direction.pipe) {
    const taken = kernel.splice(source.descriptor, direction.pipe.input, Math.min(wanted, PIPE_BYTES));
    if (taken > 0) direction.inPipe = taken;
    return taken;
  }
  const memory = buffers.take();
  const taken = source.read(memory.address, Math.min(wanted, BUFFER_BYTES));
  if (taken > 0) {
    direction.held = { ...memory, offset: 0, end: taken, isPooled: true };
    onTaken?.(new Uint8Array(memory.buffer, 0, taken));
  } else buffers.give(memory);
  return taken;
}

/** Gives to the sink what is held, oldest first. */
function deliver(direction: Direction, { kernel, buffers }: DirectionComponents): number {
  const { held, pipe, sink } = direction;
  if (held) {
    const given = sink.write(held.address + held.offset, held.end - held.offset);
    if (given < 0) return given;
    held.offset += given;
    direction.delivered += given;
    if (held.offset === held.end) releaseHeld(direction, buffers);
    return given;
  }
  if (!pipe) return 0;
  const given = kernel.splice(pipe.output, sink.descriptor, direction.inPipe);
  if (given < 0) return given;
  direction.inPipe -= given;
  direction.delivered += given;
  return given;
}

function releaseHeld(direction: Direction, buffers: BufferPool): void {
  if (direction.held?.isPooled === true) buffers.give(direction.held);
  direction.held = undefined;
}

/** An empty pipe goes back at once: only flows that hold bytes cost descriptors. */
function releasePipe(direction: Direction, pipes: PipePool): void {
  if (!direction.pipe || direction.inPipe > 0) return;
  pipes.give(direction.pipe);
  direction.pipe = undefined;
}

/** Takes back what has not been delivered, in order, and leaves nothing behind. */
export function takeBack(direction: Direction, components: DirectionComponents): Uint8Array<ArrayBuffer> {
  const { held, pipe } = direction;
  const { kernel, buffers } = components;
  const rest = new Uint8Array(Math.max(undelivered(direction), SMALLEST_BUFFER_BYTES));
  let filled = 0;
  if (held) {
    rest.set(new Uint8Array(held.buffer, held.offset, held.end - held.offset));
    filled = held.end - held.offset;
    releaseHeld(direction, buffers);
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
  discardBytes(direction, components);
  return rest.subarray(0, filled);
}

/** Drops what has not been delivered. */
export function discardBytes(direction: Direction, { pipes, buffers }: DirectionComponents): void {
  releaseHeld(direction, buffers);
  if (direction.pipe && direction.inPipe > 0) pipes.discard(direction.pipe);
  else if (direction.pipe) pipes.give(direction.pipe);
  direction.pipe = undefined;
  direction.inPipe = 0;
}
