import { constants } from 'node:os';
import { createDirection, discardBytes, holdBytes, step, undelivered } from './direction.ts';
import type { End } from './end.ts';
import { type EndComponents, type Flow, hasFailed } from './flow.ts';
import type { FlowEnd, TunnelCommand } from './thread-message.ts';

const { EAGAIN } = constants.errno;

/** Two connections that are joined until both directions have ended. */
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
  const open = new Set([up, down]);
  let lastMoveMs = nowMs;
  // From the start, so that not even the death of this process makes a cut tunnel look like an ended one.
  downstream.resetOnClose(true);
  upstream.resetOnClose(true);

  const breakOf = (end: End): FlowEnd => (end === downstream ? 'downstream-broke' : 'upstream-broke');
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
        if (result === 'sink-broke') return { end: breakOf(direction.sink) };
        if (result === 'moved') moved = true;
        else if (result === 'gathering') gathers = true;
        if (!direction.sourceEnded || undelivered(direction) > 0) continue;
        const ended = direction.sink.endWriting();
        if (ended === -EAGAIN) {
          direction.sink.writable = false;
          continue;
        }
        if (ended < 0) return { end: breakOf(direction.sink) };
        open.delete(direction);
      }
      if (open.size === 0) return { end: 'complete' };
      if (moved) {
        lastMoveMs = now;
        return 'again';
      }
      // Nothing goes any further: now an error counts even where nobody would have met it by reading or writing.
      const broken = [downstream, upstream].find(hasFailed);
      if (broken) return { end: breakOf(broken) };
      return gathers ? 'gather' : 'wait';
    },
    expired: (now) => {
      const limitMs = open.size === 2 ? command.silenceMs : command.halfClosedSilenceMs;
      return now - lastMoveMs >= limitMs ? 'silent' : undefined;
    },
    bytesUp: () => up.delivered,
    bytesDown: () => down.delivered,
    finish: (end) => {
      discardBytes(up, components);
      discardBytes(down, components);
      if (end === 'complete') {
        downstream.resetOnClose(false);
        upstream.resetOnClose(false);
      }
      return undefined;
    },
  };
}
