import type { CarrierListener, LaneCarrier, OpenCarrier } from '../../lanes/lane-carrier.ts';
import type { Part } from '../../origin/representation.ts';
import type { ReadAnswers } from '../../relay/answer-reader.ts';
import type { HeldCounters } from '../../relay/held-count.ts';
import type { BodyMerge, ChoosingRelay } from '../../relay/relay-plane.ts';
import type { ClientBody } from '../download/client-body.ts';

/** A relay thread that carries what lanes bring to a client. */
interface ThreadCarrier {
  readonly carry: OpenCarrier;
  readonly readAnswers: ReadAnswers;
}

interface CarryOptions {
  readonly relay: ChoosingRelay;
  /** Where the thread counts what it holds. */
  readonly held: HeldCounters | undefined;
  readonly stallMs: number;
  readonly signal: AbortSignal;
}

/** Has a relay thread carry a part of a file to a client, past this thread; `undefined` where that is impossible. */
export async function carryByThread(
  client: ClientBody,
  part: Part,
  { relay, held, stallMs, signal }: CarryOptions,
): Promise<ThreadCarrier | undefined> {
  const { socket, mayBypass, heldBackBytes: backBytes, watcher } = client;
  if (!socket || !mayBypass || client.left.aborted) return undefined;
  client.sendAll();
  let listener: CarrierListener | undefined;
  let countedByte = part.startByte;
  let merge: BodyMerge | undefined;
  let isGone = false;
  const count = () => {
    const passedByte = Math.min(merge?.headByte ?? countedByte, part.endByte - backBytes);
    const bytes = passedByte - countedByte;
    countedByte = passedByte;
    if (bytes > 0) client.skip(bytes);
  };
  merge = await relay.merge(socket, {
    ...part,
    backBytes,
    stallMs,
    held,
    signal,
    watcher,
    onChange: () => {
      count();
      listener?.onChange();
    },
    onLast: (bytes) => {
      count();
      client.write(bytes);
    },
    onOver: (end) => {
      count();
      isGone = end !== 'complete';
      if (isGone) listener?.onLeft();
      else listener?.onChange();
    },
  });
  const opened = merge;
  if (!opened) return undefined;
  const carrier: LaneCarrier = {
    get headByte() {
      return opened.headByte;
    },
    get heldBytes() {
      return opened.heldBytes;
    },
    get isBlocked() {
      return opened.isBlocked;
    },
    isCounted: opened.isCounted,
    put: (atByte, chunk) => opened.put(atByte, chunk),
    close: () => opened.close(),
  };
  return {
    carry: (_, told) => {
      listener = told;
      // The client may have left before anybody listened.
      if (isGone) queueMicrotask(told.onLeft);
      return carrier;
    },
    readAnswers: opened.readAnswers,
  };
}
