import { LonghaulError } from '@longhaul/shared';
import type { FirstBlock } from '../lanes/lane-transfer.ts';
import type { BlockConnection, BlockTimes, OnChunk } from '../lanes/lane-ways.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { FetchedAnswer } from './origin-fetch.ts';
import type { Part } from './representation.ts';

interface AnsweredBlockOptions {
  readonly part: Part;
  /** When it was asked for. */
  readonly askedAtMs: number;
  readonly silenceMs: number;
  readonly nowMs: () => number;
}

/** The answer with the first block as a lane that serves this one block. */
export function answeredBlock(
  { answer, choice }: FetchedAnswer,
  { part, askedAtMs, silenceMs, nowMs }: AnsweredBlockOptions,
): FirstBlock {
  const firstByteMs = nowMs() - askedAtMs;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  let onSilent = () => {};
  const watch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => onSilent(), silenceMs);
  };
  const connection: BlockConnection = {
    fetch: () => Promise.reject(new LonghaulError('origin-unreachable')),
    get isOver() {
      return isOver;
    },
    pause: () => {
      clearTimeout(timer);
      answer.pause();
    },
    resume: () => {
      if (isOver) return;
      watch();
      answer.resume();
    },
    close: () => {
      clearTimeout(timer);
      if (!isOver) resetConnection(answer.socket);
      isOver = true;
    },
  };
  const read = (onChunk: OnChunk) =>
    new Promise<BlockTimes>((resolve, reject) => {
      let restBytes = part.endByte - part.startByte;
      const fail = () => {
        connection.close();
        reject(new LonghaulError('origin-unreachable'));
      };
      onSilent = fail;
      answer.on('data', (chunk: Buffer) => {
        timer?.refresh();
        restBytes -= chunk.length;
        // Chunks can be more than `Content-Range` says.
        if (restBytes < 0) fail();
        else onChunk(chunk);
      });
      // Node ends a message cut before its declared end with an error, so an end here is the block's own.
      answer.once('end', () => {
        if (restBytes > 0) return fail();
        clearTimeout(timer);
        isOver = true;
        resolve({ firstByteMs, wholeMs: nowMs() - askedAtMs });
      });
      answer.on('error', fail);
      answer.once('close', () => {
        if (!isOver) fail();
      });
      watch();
      if (answer.destroyed) fail();
    });
  const { chain } = choice;
  return { lane: { connection, way: Promise.resolve({ chain }) }, part, read };
}
