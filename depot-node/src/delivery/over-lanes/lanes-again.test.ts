import { parseOriginUrl } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { lanesSchema } from '../../lanes/lanes-config.ts';
import type { AskedTimes } from '../../origin/conversation.ts';
import type { TimedAnswer } from '../../routes/fetcher.ts';
import type { RunningDownload } from '../download/running-download.ts';
import { LanesAgain } from './lanes-again.ts';

const MB = 1_000_000;
const parsed = parseOriginUrl('https://origin.example/file');
if (!parsed.ok) throw parsed.error;
const { value: url } = parsed;
const AT_ONCE: AskedTimes = { openedAtMs: 0, askedAtMs: 10, stoodAtMs: 10, answeredAtMs: 20 };
const LATE: AskedTimes = { ...AT_ONCE, answeredAtMs: 20_000 };

/** A download of 100 MB of which the client has the first one, and whose lanes have begun with this block. */
function begun(firstBlock: AskedTimes) {
  const missing = { startByte: MB, endByte: 100 * MB };
  const book = { routes: () => [], plan: { promise: undefined } };
  const lanes = new LanesAgain(
    { book, missing, nextByte: MB } as unknown as RunningDownload,
    lanesSchema.parse({}),
  );
  lanes.noteBegin(firstBlock);
  return lanes;
}
const answer = (endByte: number, times: AskedTimes) => {
  const headers = { 'content-range': `bytes ${MB}-${endByte - 1}/${100 * MB}` };
  return { ...times, head: { statusCode: 206, headers }, target: { url } } as unknown as TimedAnswer;
};

test('lanes go on behind a block that is shorter than was asked for', () => {
  const lanes = begun(AT_ONCE);
  const { endByte = 0 } = lanes.blockAt(url) ?? {};
  expect(lanes.firstBlock(answer(endByte, AT_ONCE))?.part).toMatchObject({ startByte: MB, endByte });
  expect(lanes.firstBlock(answer(endByte - 100, AT_ONCE))?.part.endByte).toBe(endByte - 100);
  expect(lanes.firstBlock(answer(100 * MB, AT_ONCE)), 'all of the rest').toBeUndefined();
});

test('an origin that thinks before a block is asked for no further one', () => {
  expect(begun(LATE).blockAt(url)).toBeUndefined();
  const lanes = begun(AT_ONCE);
  const { endByte = 0 } = lanes.blockAt(url) ?? {};
  expect(lanes.firstBlock(answer(endByte, LATE))).toBeUndefined();
  expect(lanes.blockAt(url)).toBeUndefined();
});
