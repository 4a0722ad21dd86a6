import type { KnownPrefix } from '../../digests/running-digest.ts';
import { readPart } from '../../origin/representation.ts';
import type { DataPlane } from '../../plane/data-plane.ts';
import { LinkedAbort } from '../../racing/linked-abort.ts';
import type { FetchedAnswer } from '../../routes/fetcher.ts';
import type { RunningDownload } from '../download/running-download.ts';
import { beginFailover } from '../repairing/begin-failover.ts';
import type { Repaired, Repairer } from '../repairing/repair.ts';
import type { RestPlan } from '../repairing/rest-plan.ts';
import { type PartEnd, type PartSender, type SendLimits, takePart } from './send-part.ts';
import type { WayLimits, WayWatch } from './way-watch.ts';

interface WaySenderInit {
  readonly download: RunningDownload;
  readonly plane: DataPlane;
  readonly limits: Pick<WayLimits, 'silenceMs'>;
  readonly watch: WayWatch;
  readonly rest: RestPlan;
  readonly repairer: Repairer;
}

/** How the sending of an answer ended, and what goes on behind it where another way was there before. */
interface SentWay {
  readonly end: PartEnd;
  readonly repaired?: Repaired;
}

/** Behind so many answers in a row that brought nothing, one that brings nothing either is no pause. */
const MOST_BARREN = 3;

/**
 * Sends the answers of a download to its client, one after the other, each over its way alone. A way that is
 * silent or far too slow is kept until the rest can come over another one.
 */
export class WaySender {
  readonly #init: WaySenderInit;
  /** Answers in a row before this one that brought the client nothing. */
  #barren = 0;

  constructor(init: WaySenderInit) {
    this.#init = init;
  }

  /**
   * Sends an answer, from behind what it brings again of the client's bytes, to its end or until the rest of
   * it can come over another way. Its connection is used up then.
   */
  async send(answer: FetchedAnswer, prefix: KnownPrefix | undefined): Promise<SentWay> {
    const { download, plane, rest, watch } = this.#init;
    const { client, missing, part } = download;
    const own = part && readPart(answer.head);
    // A body that comes again may be framed in another way than the one that the client was told the length of.
    const againBytes = prefix && missing ? prefix.restBytes + missing.endByte - missing.startByte : undefined;
    const leg = watch.leg(answer.connection.stream, answer.route, answer.target.url.host);
    const sender = await takePart(answer, client, {
      relay: plane.relay,
      stallMs: plane.timeouts.stallMs,
      sizeBytes: own ? own.endByte - own.startByte : againBytes,
      prefix,
      onAgain: (bytes) => {
        rest.noteAgain(bytes);
        client.noteAgain(bytes);
      },
    });
    const sent = await this.#sendOrReplace(answer, sender);
    leg.stop();
    sender.leave();
    return sent;
  }

  /**
   * Sends an answer to its end, or until the rest of it can come over another way: a way that is silent or
   * slow is kept until then. There are links that are good for one request, and origins that count them: over
   * one connection a pause is only a pause.
   */
  async #sendOrReplace(answer: FetchedAnswer, sender: PartSender): Promise<SentWay> {
    const { download, watch } = this.#init;
    const { client, stop } = download;
    const firstBytes = client.bytes;
    let mayBeSlow = true;
    for (;;) {
      const silenceMs = watch.silenceMs();
      const over = new LinkedAbort(stop);
      let slowBps = 0;
      const onSlow = (meanBps: number) => {
        slowBps = meanBps;
        over.abort();
      };
      const stopWatch = mayBeSlow ? watch.slowness(answer, onSlow) : undefined;
      const before = client.bytes;
      const end = await this.#sendOn(sender, { signal: over.signal, silenceMs });
      over.leave();
      stopWatch?.();
      if (client.bytes === before) watch.noteEnd(false);
      if (client.bytes > firstBytes) this.#barren = 0;
      const isSlow = end === 'cancelled' && !stop.aborted;
      const isPause = end === 'source-silent' && this.#mayGoOn(silenceMs);
      const sent =
        isSlow || isPause ? await this.#askBeside(answer, sender, isSlow ? slowBps : undefined) : { end };
      if (sent.end !== 'cancelled' || sent.repaired || stop.aborted) {
        if (client.bytes === firstBytes) this.#barren += 1;
        return sent;
      }
      if (isSlow) mayBeSlow = false;
    }
  }

  /**
   * Whether a way may still bring something that has been silent for so long, and is no burden to those that
   * are asked beside it.
   */
  #mayGoOn(silenceMs: number): boolean {
    const { download, plane, rest } = this.#init;
    const { timeouts } = plane;
    // Everything may have come but the end of the message.
    if (download.hasAll) return false;
    if (rest.mayCountConnections && silenceMs >= timeouts.silenceMs) return false;
    return silenceMs < timeouts.stallMs && this.#barren < MOST_BARREN;
  }

  /**
   * Asks for the rest over another way than one that is silent, or so slow, in bits per second, and stands
   * meanwhile. From a silent one bytes may come: then it is kept. What comes from a slow one waits in its
   * connection. So another way begins at the client's next byte, or is not taken: one that began with what
   * the client has would be proved to go on only behind that.
   */
  async #askBeside(answer: FetchedAnswer, sender: PartSender, slowBps: number | undefined): Promise<SentWay> {
    const { download, plane, limits, rest, repairer } = this.#init;
    const { book, client, stop } = download;
    const { chain } = answer.route;
    const { bytes } = client;
    const keptFor = slowBps === undefined ? 'silent' : 'slow';
    const tell = beginFailover(download, plane, chain, keptFor);
    const found = new AbortController();
    /** Aborts when the way that is kept brings something, or has ended by itself. */
    const goesOn = new AbortController();
    let hasCome = false;
    const later =
      keptFor === 'silent' &&
      this.#sendOn(sender, {
        signal: AbortSignal.any([stop, found.signal]),
        silenceMs: plane.timeouts.stallMs,
        onCome: () => {
          hasCome = true;
          goesOn.abort();
        },
      });
    if (later) void later.then(() => goesOn.abort());
    if (slowBps === undefined) book.noteFailure(chain);
    else download.noteSlow(chain, slowBps, plane.steadyMs());
    const asking = later ? goesOn.signal : AbortSignal.timeout(limits.silenceMs);
    const repair = {
      target: answer.target,
      signal: AbortSignal.any([stop, client.left, asking]),
      keptFor,
    } as const;
    const repaired = await repairer.repair(repair).catch(() => {
      // Also where nobody has refused: what was asked for in vain costs as much to ask for again.
      if (later && !asking.aborted) rest.noteRefusal();
    });
    found.abort();
    const end = later ? await later : 'cancelled';
    const isOver = stop.aborted || end === 'complete' || end === 'sink-broke' || end === 'sink-stalled';
    if (repaired && !isOver && !hasCome && client.bytes === bytes) {
      tell(repaired);
      return { end, repaired };
    }
    repaired?.answer.connection.reset();
    if (end === 'cancelled') download.noteKept(chain);
    return { end };
  }

  /** Sends on, and notes whether that brings anything. */
  async #sendOn(sender: PartSender, limits: SendLimits): Promise<PartEnd> {
    const { download, rest, watch } = this.#init;
    const { client } = download;
    const before = client.bytes;
    const end = await sender.send(limits);
    if (client.bytes > before) {
      watch.noteEnd(true);
      rest.noteNew();
    }
    return end;
  }
}
