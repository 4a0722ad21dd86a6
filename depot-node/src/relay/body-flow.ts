import { SegmentTags } from '../digests/segment-tags.ts';
import { createDirection, discardBytes, holdBytes, step, takeBack, undelivered } from './direction.ts';
import { type EndComponents, type Flow, hasFailed } from './flow.ts';
import type { BodyCommand } from './thread-message.ts';

/** So many bytes from one connection to another, which both go on afterwards. */
export function createBodyFlow(command: BodyCommand, components: EndComponents, nowMs: number): Flow {
  const { digests, kernel } = components;
  const digest = digests.find(command.digestId);
  const tags = command.tagKey && new SegmentTags(command.tagKey);
  const onTaken = (bytes: Uint8Array) => {
    digest?.update(bytes);
    tags?.add(bytes);
  };
  const source = components.makeEnd(command.source, 'source');
  const sink = components.makeEnd(command.sink, 'sink');
  const direction = createDirection(source, sink, {
    wanted: command.sizeBytes - command.head.length,
    held: holdBytes(kernel, command.head),
    onTaken: digest || tags ? onTaken : undefined,
  });
  let lastMoveMs = nowMs;

  return {
    id: command.id,
    ends: [source, sink],
    wantsProgress: command.wantsProgress,
    queued: false,
    reportedBytes: 0,
    turn: (now) => {
      const result = step(direction, components, now);
      if (result === 'source-broke' || result === 'sink-broke') return { end: result };
      if (undelivered(direction) === 0) {
        if (direction.wanted === 0) return { end: 'complete' };
        if (direction.sourceEnded) return { end: 'source-ended' };
      }
      if (result === 'moved') {
        lastMoveMs = now;
        return 'again';
      }
      if (hasFailed(sink)) return { end: 'sink-broke' };
      return result === 'gathering' ? 'gather' : 'wait';
    },
    expired: (now) => {
      const waitsForSink = undelivered(direction) > 0;
      if (now - lastMoveMs < (waitsForSink ? command.stallMs : command.silenceMs)) return undefined;
      return waitsForSink ? 'sink-stalled' : 'source-silent';
    },
    bytesUp: () => 0,
    bytesDown: () => direction.delivered,
    segments: tags && (() => tags.take()),
    finish: (end) => {
      if (end === 'cancelled' || end === 'sink-stalled') {
        if (direction.held && sink.keepForLater?.(direction.held) === true) {
          direction.delivered += undelivered(direction);
          direction.held = undefined;
        }
        return takeBack(direction, components);
      }
      discardBytes(direction, components);
      return undefined;
    },
  };
}
