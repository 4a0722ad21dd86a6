import { type OriginUrl, originHref } from '@longhaul/shared';
import { firstBlockBytes } from '../../lanes/block-sizes.ts';
import type { AskedBlock } from '../../lanes/lane-transfer.ts';
import type { LanesConfig } from '../../lanes/lanes-config.ts';
import { type AskedTimes, thinks, timesOf } from '../../origin/conversation.ts';
import { LEAST_PART_BYTES } from '../../origin/joined-part.ts';
import { type Part, readPart } from '../../origin/representation.ts';
import type { TimedAnswer } from '../../routes/fetcher.ts';
import type { RunningDownload } from '../download/running-download.ts';

/**
 * So much has to be left for lanes to begin again, and to have come since they did so last: a second of 64
 * Mbit/s, which outweighs that they begin, and that what comes before its turn is lost when they end.
 */
const WORTH_LANES_BYTES = 8_388_608;

/**
 * Whether the rest of a download whose lanes have ended, or whose one way has broken since, is for lanes
 * again: then a repair asks for a first block of it. Not at an address that has refused blocks; redirects may
 * lead to a new one.
 */
export class LanesAgain {
  readonly #download: RunningDownload;
  readonly #config: LanesConfig;
  /** From this byte of the file on they may begin again; unset before they have begun at all. */
  #fromByte: number | undefined;
  #refusedHref: string | undefined;

  constructor(download: RunningDownload, config: LanesConfig) {
    this.#download = download;
    this.#config = config;
  }

  /**
   * Notes that lanes begin with this block. They may do so once more however soon they end, but where the
   * origin thinks before each.
   */
  noteBegin(firstBlock: AskedTimes): void {
    if (thinks(firstBlock)) return;
    this.#fromByte = this.#fromByte === undefined ? 0 : this.#download.nextByte + WORTH_LANES_BYTES;
  }

  /** Notes that blocks are refused at an address. */
  noteRefusal(url: OriginUrl): void {
    this.#refusedHref = originHref(url);
  }

  /** The first block of the rest, to be asked for at this address; `undefined` where all of the rest is. */
  blockAt(url: OriginUrl): Part | undefined {
    const { book, missing, nextByte } = this.#download;
    if (!missing || this.#fromByte === undefined || nextByte < this.#fromByte) return undefined;
    const isWorthIt = missing.endByte - missing.startByte >= WORTH_LANES_BYTES;
    if (!isWorthIt || originHref(url) === this.#refusedHref) return undefined;
    const [best = book.plan] = book.routes();
    // Less would not be taken for a part of the rest.
    const sizeBytes = Math.max(LEAST_PART_BYTES, firstBlockBytes(best.promise, this.#config));
    return { ...missing, endByte: Math.min(missing.endByte, missing.startByte + sizeBytes) };
  }

  /**
   * The block that lanes go on with behind an answer that is proved to go on with the download; `undefined`
   * where it is to be sent as it is.
   */
  firstBlock(answer: TimedAnswer): (AskedBlock & AskedTimes) | undefined {
    const { missing } = this.#download;
    const part = readPart(answer.head);
    if (!part || !missing || !this.blockAt(answer.target.url)) return undefined;
    // The block that was asked for, or a shorter one: what is known of the routes may have changed since.
    const isBlock = part.startByte === missing.startByte && part.endByte < missing.endByte;
    if (!isBlock) return undefined;
    if (!thinks(answer)) return { part, ...timesOf(answer) };
    // Each block would wait again.
    this.#fromByte = Number.POSITIVE_INFINITY;
    return undefined;
  }
}
