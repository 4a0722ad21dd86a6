import { constants } from 'node:os';
import { createDirection, discardBytes, holdBytes, step, undelivered } from './direction.ts';
import type { End } from './end.ts';
import { type EndComponents, type Flow, hasFailed } from './flow.ts';
import type { FlowEnd, TunnelCommand } from './thread-message.ts';

const { EAGAIN, EPIPE } = constants.errno;

/**
 * Takes what a client still sends to an upstream that is gone: unread it would make the client's connection
 * end by a reset.
 */
const NOWHERE: End = {
  descriptor: -1,
  isPlain: false,
  readable: false,
  writable: true,
  failed: false,
  read: () => -EAGAIN,
  write: (_address, sizeBytes) => sizeBytes,
  endWriting: () => 0,
  resetOnClose: () => undefined,
  takeError: () => 0,
  close: () => undefined,
};

/** Reads of a client's last bytes, when its tunnel has been given up: it may send more for ever. */
const MOST_LATE_STEPS = 64;

/**
 * Two connections that are joined until both directions have ended. An upstream that breaks behind its own
 * end has given everything: that reaches the client, and its end as well.
 */
export function createTunnelFlow(command: TunnelCommand, components: EndComponents, nowMs: number): Flow {
  const { kernel } = components;
  const downstream = components.makeEnd(command.downstream, 'both');
  const upstream = components.makeEnd(command.upstream, 'both');
  const up = createDirection(downstream, upstream, {
    wanted: Infinity,
    held: holdBytes(kernel, command.headUp),
  });
  const down = createDirection(upstream, downstream, {
    wanted: Infinity,
    held: holdBytes(kernel, command.headDown),
  });
  /** What a client sends when its upstream is gone. */
  const late = createDirection(downstream, NOWHERE);
  const open = new Set([up, down]);
  let lastMoveMs = nowMs;
  // From the start, so that not even the death of this process makes a cut tunnel look like an ended one.
  downstream.resetOnClose(true);
  upstream.resetOnClose(true);

  const breakOf = (end: End): FlowEnd => (end === downstream ? 'downstream-broke' : 'upstream-broke');
  /**
   * Whether the upstream's end had come before it broke: whoever writes to it is told of a reset behind an
   * end by `EPIPE`.
   */
  const hadEnded = () => down.sourceEnded || (upstream.isPlain && up.sinkError === EPIPE);
  /** Whether bytes, or their end, wait for the client to make room. */
  const waitsForClient = () => open.has(down) && (down.sourceEnded || undelivered(down) > 0);
  const leaveUpstream = () => {
    discardBytes(up, components);
    open.delete(up);
    if (!up.sourceEnded) open.add(late);
  };
  /** So that its connection does not end by a reset. */
  const readLate = () => {
    for (let left = MOST_LATE_STEPS; left > 0 && step(late, components) === 'moved'; left -= 1);
  };
  return {
    id: command.id,
    ends: [downstream, upstream],
    wantsProgress: command.wantsProgress,
    queued: false,
    reportedBytes: 0,
    turn: (now) => {
      let moved = false;
      let gathers = false;
      for (const direction of open) {
        const result = step(direction, components, now);
        if (result === 'source-broke') return { end: breakOf(direction.source) };
        if (result === 'sink-broke') {
          if (direction !== up || !hadEnded()) return { end: breakOf(direction.sink) };
          leaveUpstream();
          moved = true;
          continue;
        }
        if (result === 'moved') {
          moved = true;
          if (direction !== late) lastMoveMs = now;
        } else if (result === 'gathering') gathers = true;
        if (!direction.sourceEnded || undelivered(direction) > 0) continue;
        const ended = direction.sink.endWriting();
        if (ended === -EAGAIN) {
          direction.sink.writable = false;
          continue;
        }
        // An upstream that takes no end is gone: whether it had ended is told by reading.
        if (ended < 0 && direction !== up) return { end: breakOf(direction.sink) };
        open.delete(direction);
      }
      if (open.size === 0) return { end: 'complete' };
      if (moved) return 'again';
      // Nothing goes any further: now an error counts even where nobody would have met it by reading or writing.
      if (hasFailed(downstream)) return { end: 'downstream-broke' };
      const isDownOpen = open.has(down);
      // Behind bytes that wait, reading will meet it.
      if (!waitsForClient() && (isDownOpen || open.has(up)) && hasFailed(upstream)) {
        if (isDownOpen) return { end: 'upstream-broke' };
        leaveUpstream();
        return 'again';
      }
      return gathers ? 'gather' : 'wait';
    },
    expired: (now) => {
      const limitMs = open.size === 2 || waitsForClient() ? command.silenceMs : command.halfClosedSilenceMs;
      if (now - lastMoveMs < limitMs) return undefined;
      // A client that keeps its side open may only read late: a reset would take from it what still waits in
      // the kernel.
      return open.has(down) ? 'silent' : 'complete';
    },
    bytesUp: () => up.delivered,
    bytesDown: () => down.delivered,
    finish: (end) => {
      if (end === 'complete') {
        downstream.resetOnClose(false);
        // What the client has not ended must not look whole.
        upstream.resetOnClose(open.has(up));
        if (open.has(up)) leaveUpstream();
        if (open.has(late)) readLate();
      }
      for (const direction of [up, down, late]) discardBytes(direction, components);
      return undefined;
    },
  };
}
