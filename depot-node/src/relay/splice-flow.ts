import type { Kernel } from '../kernel/open-kernel.ts';
import type { PipePool } from './pipe-pool.ts';
import {
  createDirection,
  type Direction,
  discardBytes,
  type End,
  holdBytes,
  step,
  takeBack,
  undelivered,
} from './splice-direction.ts';
import type { BodyCommand, FlowEnd, TunnelCommand } from './splice-message.ts';

export interface FlowComponents {
  readonly kernel: Kernel;
  readonly pipes: PipePool;
}

/** A tunnel or a body in the splice thread. Its descriptors are its own. */
export interface Flow {
  readonly id: number;
  readonly ends: readonly End[];
  readonly wantsProgress: boolean;
  /** Whether it waits for its next turn. */
  queued: boolean;
  /** Bytes of both directions at the last report of progress. */
  reportedBytes: number;
  /** One move in and one out for each direction. */
  readonly turn: (nowMs: number) => Turn;
  /** The end that time brings, if it has come. */
  readonly expired: (nowMs: number) => FlowEnd | undefined;
  readonly bytesUp: () => number;
  readonly bytesDown: () => number;
  /** Gives up what is held; the sockets may then be closed. Returns what a body took and did not deliver. */
  readonly finish: (end: FlowEnd) => Uint8Array<ArrayBuffer> | undefined;
}

/** `again`: another turn may go further; otherwise an event must come first. */
export type Turn = 'again' | 'wait' | { readonly end: FlowEnd };

export function createTunnelFlow(command: TunnelCommand, components: FlowComponents, nowMs: number): Flow {
  const { kernel, pipes } = components;
  const downstream = createEnd(command.downstream);
  const upstream = createEnd(command.upstream);
  const up = createDirection(downstream, upstream, Infinity, holdBytes(kernel, command.headUp));
  const down = createDirection(upstream, downstream, Infinity, holdBytes(kernel, command.headDown));
  const open = new Set([up, down]);
  let lastMoveMs = nowMs;
  // From the start, so that not even the death of this process makes a cut tunnel look like an ended one.
  kernel.resetOnClose(command.downstream, true);
  kernel.resetOnClose(command.upstream, true);

  const breakOf = (end: End): FlowEnd => (end === downstream ? 'downstream-broke' : 'upstream-broke');
  return {
    id: command.id,
    ends: [downstream, upstream],
    wantsProgress: command.wantsProgress,
    queued: false,
    reportedBytes: 0,
    turn: (now) => {
      let moved = false;
      for (const direction of open) {
        const result = step(direction, kernel, pipes);
        if (result === 'source-broke') return { end: breakOf(direction.source) };
        if (result === 'sink-broke') return { end: breakOf(direction.sink) };
        if (result === 'moved') moved = true;
        if (!direction.sourceEnded || undelivered(direction) > 0) continue;
        if (kernel.endWriting(direction.sink.descriptor) < 0) return { end: breakOf(direction.sink) };
        open.delete(direction);
      }
      if (open.size === 0) return { end: 'complete' };
      if (moved) {
        lastMoveMs = now;
        return 'again';
      }
      // Nothing goes any further: now an error counts even where nobody would have met it by reading or writing.
      const broken = [downstream, upstream].find((end) => hasFailed(end, kernel));
      return broken ? { end: breakOf(broken) } : 'wait';
    },
    expired: (now) => {
      const limitMs = open.size === 2 ? command.silenceMs : command.halfClosedSilenceMs;
      return now - lastMoveMs >= limitMs ? 'silent' : undefined;
    },
    bytesUp: () => up.delivered,
    bytesDown: () => down.delivered,
    finish: (end) => {
      discardBytes(up, pipes);
      discardBytes(down, pipes);
      if (end === 'complete') {
        kernel.resetOnClose(downstream.descriptor, false);
        kernel.resetOnClose(upstream.descriptor, false);
      }
      return undefined;
    },
  };
}

export function createBodyFlow(command: BodyCommand, components: FlowComponents, nowMs: number): Flow {
  const { kernel, pipes } = components;
  const source = createEnd(command.source);
  const sink = createEnd(command.sink);
  const wanted = command.sizeBytes - command.head.length;
  const direction: Direction = createDirection(source, sink, wanted, holdBytes(kernel, command.head));
  let lastMoveMs = nowMs;

  return {
    id: command.id,
    ends: [source, sink],
    wantsProgress: command.wantsProgress,
    queued: false,
    reportedBytes: 0,
    turn: (now) => {
      const result = step(direction, kernel, pipes);
      if (result === 'source-broke' || result === 'sink-broke') return { end: result };
      if (undelivered(direction) === 0) {
        if (direction.wanted === 0) return { end: 'complete' };
        if (direction.sourceEnded) return { end: 'source-ended' };
      }
      if (result === 'moved') {
        lastMoveMs = now;
        return 'again';
      }
      return hasFailed(sink, kernel) ? { end: 'sink-broke' } : 'wait';
    },
    expired: (now) => {
      const waitsForSink = undelivered(direction) > 0;
      if (now - lastMoveMs < (waitsForSink ? command.stallMs : command.silenceMs)) return undefined;
      return waitsForSink ? 'sink-stalled' : 'source-silent';
    },
    bytesUp: () => 0,
    bytesDown: () => direction.delivered,
    finish: (end) => {
      if (end === 'cancelled' || end === 'sink-stalled') return takeBack(direction, kernel, pipes);
      discardBytes(direction, pipes);
      return undefined;
    },
  };
}

/** A socket of which nothing is known yet: trying tells. */
function createEnd(descriptor: number): End {
  return { descriptor, readable: true, writable: true, failed: false };
}

function hasFailed(end: End, kernel: Kernel): boolean {
  if (!end.failed) return false;
  end.failed = kernel.takeError(end.descriptor) !== 0;
  return end.failed;
}
