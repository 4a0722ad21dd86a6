import { SegmentTags } from '../digests/segment-tags.ts';
import { SMALLEST_BUFFER_BYTES } from '../kernel/libc.ts';
import { TOLD_WITHIN_MS } from './answer-reader.ts';
import {
  createDirection,
  type Direction,
  discardBytes,
  holdBytes,
  step,
  takeBack,
  undelivered,
} from './direction.ts';
import type { End, HeldBytes } from './end.ts';
import { FileRuns } from './file-runs.ts';
import { type EndComponents, type Flow, hasFailed, type Turn } from './flow.ts';
import { HeldCount } from './held-count.ts';
import { type MergePieces, type Piece, roomIn } from './merge-pieces.ts';
import type { FlowEnd, MergeCommand, MergeEvent } from './thread-message.ts';

/**
 * Of each merge is told when it, or its connections, have moved so much since the last time, or
 * `TOLD_WITHIN_MS` after.
 */
const TOLD_BYTES = 524_288;
/**
 * But no sooner than this after the last time, in which so much comes and goes at 1 Gbit/s: a faster one
 * would be told of thousands of times a second.
 */
const TOLD_APART_MS = 2;

/** A connection of a merge, whose answers bring parts of the file. */
export interface MergeLane extends Flow {
  readonly source: End;
  /** Where the next byte of its body belongs, and how many have not come. */
  readonly atByte: number;
  readonly restBytes: number;
  /** Whether bytes of a body can be taken from its connection now. */
  readonly canGive: boolean;
  /** Whether it waits until its bytes are next, and are taken. */
  readonly waitsForTurn: boolean;
  /** Whether it waits until there is room in memory again. */
  readonly waitsForRoom: boolean;
  /** The merge has taken bytes from its connection. */
  readonly noteTaken: (bytes: number, nowMs: number) => void;
  /** The merge has met its end, or has one itself. */
  readonly noteEnd: (end: FlowEnd) => void;
  /** The one who gets the merge's bytes takes none just now; says whether that is new, and keeps this one waiting. */
  readonly noteBlocked: (nowMs: number) => boolean;
  /** It takes bytes again; says whether that is new. */
  readonly noteFree: (nowMs: number) => boolean;
  /** Tells what is new. */
  readonly report: (nowMs: number) => MergeEvent | undefined;
}

export interface MergeComponents extends EndComponents {
  readonly pieces: MergePieces;
  readonly enqueue: (flow: Flow) => void;
  /** Has it look again soon whether there is room in memory. */
  readonly awaitRoom: (merge: MergeFlow) => void;
  /** Asks to be told of when its time comes, perhaps with this round. */
  readonly tell: (merge: MergeFlow) => void;
  /** Tells of something with this round, behind what is new of its merge. */
  readonly tellAtOnce: (merge: MergeFlow, event: MergeEvent, nowMs: number) => void;
}

/**
 * A file that several connections bring parts of, and one connection gets in order. Of the connection whose
 * body is next the bytes pass without resting, inside the kernel where that can be; all others put theirs
 * into memory until it is their turn.
 */
export class MergeFlow implements Flow {
  readonly id: number;
  readonly ends: readonly [End];
  readonly wantsProgress = false;
  queued = false;
  reportedBytes = 0;
  readonly runs: FileRuns<Piece[]>;
  /** The connections that bring it. */
  readonly answers = new Set<MergeLane>();
  readonly #command: MergeCommand;
  readonly #components: MergeComponents;
  readonly #direction: Direction;
  readonly #source = new NextSource();
  readonly #tags: SegmentTags | undefined;
  readonly #count: HeldCount | undefined;
  #countedBytes = 0;
  /** The first byte that is not delivered. */
  readonly #endByte: number;
  /** What is being delivered out of memory. */
  #piece: Piece | undefined;
  /** What is being put into memory, held here so that its address holds. */
  #put: Uint8Array<ArrayBuffer> | undefined;
  #lastMoveMs: number;
  /** Bytes that came or went since the last time that something was told. */
  #untoldBytes = 0;
  #toldDelivered = 0;
  #toldMs: number;
  #toldHeld = 0;
  #wasBlocked = false;

  constructor(command: MergeCommand, components: MergeComponents, nowMs: number) {
    this.id = command.id;
    this.#command = command;
    this.#components = components;
    const sink = components.makeEnd(command.sink, 'sink');
    this.ends = [sink];
    this.#endByte = command.endByte - command.backBytes;
    this.runs = new FileRuns(command.startByte, () => []);
    this.#count = command.held && new HeldCount(command.held);
    const digest = components.digests.find(command.digestId);
    this.#tags = command.tagKey && new SegmentTags(command.tagKey);
    const tags = this.#tags;
    const onTaken = (bytes: Uint8Array) => {
      digest?.update(bytes);
      tags?.add(bytes);
    };
    const onTakenIfSeen = digest || tags ? onTaken : undefined;
    this.#direction = createDirection(this.#source, sink, { wanted: 0, onTaken: onTakenIfSeen });
    this.#lastMoveMs = nowMs;
    this.#toldMs = nowMs;
  }

  /** Whether the sink takes nothing just now, though there is something for it. */
  get isBlocked(): boolean {
    return undelivered(this.#direction) > 0 && !this.ends[0].writable;
  }

  /** Whether a byte is taken from its connection, and not out of memory, when its turn comes, which is the next. */
  isNext(byte: number): boolean {
    return byte < this.#endByte && byte === this.runs.readyByte;
  }

  /** Bytes in memory. */
  get heldBytes(): number {
    const { held } = this.#direction;
    return this.runs.heldBytes + (held ? held.end - held.offset : 0);
  }

  /** How much of what is not next may be read at once. */
  get roomBytes(): number {
    return this.#count?.roomBytes ?? Number.POSITIVE_INFINITY;
  }

  /** Bytes have been put into memory; so many of them were counted already, by who put them. */
  noteHeld(knownBytes = 0): void {
    const { heldBytes } = this;
    this.#count?.note(heldBytes - this.#countedBytes - knownBytes);
    this.#countedBytes = heldBytes;
  }

  /** Has connections go on that waited for room. */
  wakeForRoom(): void {
    for (const lane of this.answers) if (lane.waitsForRoom) this.#components.enqueue(lane);
  }

  turn(nowMs: number): Turn {
    const direction = this.#direction;
    const before = direction.delivered;
    if (undelivered(direction) === 0) this.#takePiece();
    const lane = undelivered(direction) === 0 ? this.#laneInTurn() : undefined;
    this.#source.end = lane?.source;
    const most = lane
      ? Math.min(lane.restBytes, this.runs.missingBytes(lane.atByte), this.#endByte - lane.atByte)
      : 0;
    direction.wanted = most;
    const result = step(direction, this.#components, nowMs);
    const takenBytes = most - direction.wanted;
    if (takenBytes > 0) {
      this.runs.pass(takenBytes);
      lane?.noteTaken(takenBytes, nowMs);
      this.wakeOthers();
    }
    if (lane && (direction.sourceEnded || result === 'source-broke')) {
      direction.sourceEnded = false;
      lane.noteEnd(result === 'source-broke' ? 'source-broke' : 'source-ended');
    }
    this.#releasePiece();
    this.noteHeld();
    if (result === 'sink-broke') return { end: 'sink-broke' };
    const deliveredBytes = direction.delivered - before;
    if (deliveredBytes > 0) this.#lastMoveMs = nowMs;
    this.noteMoved(takenBytes + deliveredBytes);
    const isBlocked = this.isBlocked;
    let isNews = isBlocked !== this.#wasBlocked;
    for (const one of this.answers) {
      if (isBlocked ? one.noteBlocked(nowMs) : one.noteFree(nowMs)) isNews = true;
    }
    if (isNews) this.#components.tell(this);
    if (this.#isComplete) return { end: 'complete' };
    // Of two that bring the same, the other one may have it.
    if (result === 'moved' || (result !== 'gathering' && lane && this.#laneInTurn())) return 'again';
    if (hasFailed(this.ends[0])) return { end: 'sink-broke' };
    return result === 'gathering' ? 'gather' : 'wait';
  }

  /** Bytes have come, or gone. */
  noteMoved(bytes: number): void {
    if (bytes === 0) return;
    this.#untoldBytes += bytes;
    this.#components.tell(this);
  }

  /** When it wants to be told of at last. */
  get tellAtMs(): number {
    return this.#toldMs + (this.#untoldBytes < TOLD_BYTES ? TOLD_WITHIN_MS : TOLD_APART_MS);
  }

  /** Tells how it stands. */
  report(nowMs: number): MergeEvent | undefined {
    const { delivered } = this.#direction;
    const bytes = delivered - this.#toldDelivered;
    const { heldBytes, isBlocked, id } = this;
    this.#untoldBytes = 0;
    this.#toldMs = nowMs;
    const isNews = bytes > 0 || heldBytes !== this.#toldHeld || isBlocked !== this.#wasBlocked;
    this.#toldDelivered = delivered;
    this.#toldHeld = heldBytes;
    this.#wasBlocked = isBlocked;
    return isNews ? { is: 'delivered', id, bytes, heldBytes, isBlocked } : undefined;
  }

  /** Has connections go on that waited for a turn which has been another's: what they bring is there. */
  wakeOthers(): void {
    for (const lane of this.answers)
      if (lane.waitsForTurn && !this.isNext(lane.atByte)) this.#components.enqueue(lane);
      else if (lane.waitsForRoom && this.isNext(lane.atByte)) this.#components.enqueue(lane);
  }

  /** Takes bytes that Node has read. */
  put(startByte: number, bytes: Uint8Array): void {
    const { kernel } = this.#components;
    // The memory of a small array may be moved.
    this.#put = new Uint8Array(Math.max(bytes.length, SMALLEST_BUFFER_BYTES));
    this.#put.set(bytes);
    this.copyIn(startByte, kernel.addressOf(this.#put.buffer), bytes.length);
    this.#put = undefined;
    this.noteHeld(bytes.length);
    this.wakeOthers();
    this.noteMoved(bytes.length);
    this.#components.enqueue(this);
  }

  /** Puts bytes into memory, but for those that are there. */
  copyIn(startByte: number, address: number, sizeBytes: number): void {
    const { kernel, pieces } = this.#components;
    let byte = startByte;
    for (let restBytes = sizeBytes; restBytes > 0; restBytes = startByte + sizeBytes - byte) {
      const knownBytes = this.runs.knownBytes(byte);
      if (knownBytes > 0) {
        byte += knownBytes;
        continue;
      }
      const run = this.runs.runAt(byte);
      const piece = pieces.withRoom(run.store);
      const bytes = Math.min(restBytes, roomIn(piece), this.runs.missingBytes(byte));
      kernel.copy(piece.address + piece.end, address + (byte - startByte), bytes);
      piece.end += bytes;
      this.runs.grow(run, bytes);
      byte += bytes;
    }
  }

  expired(nowMs: number): FlowEnd | undefined {
    if (undelivered(this.#direction) === 0) this.#lastMoveMs = nowMs;
    return nowMs - this.#lastMoveMs < this.#command.stallMs ? undefined : 'sink-stalled';
  }

  bytesUp(): number {
    return 0;
  }

  bytesDown(): number {
    return this.#direction.delivered;
  }

  get segments(): Flow['segments'] {
    const tags = this.#tags;
    return tags && (() => tags.take());
  }

  finish(end: FlowEnd): Uint8Array<ArrayBuffer> | undefined {
    const rest = this.#restAt(end);
    for (const { store } of this.runs.takeAll())
      for (const piece of store) this.#components.pieces.give(piece);
    this.#count?.note(-this.#countedBytes);
    this.#countedBytes = 0;
    for (const lane of this.answers) lane.noteEnd('cancelled');
    return rest;
  }

  #restAt(end: FlowEnd): Uint8Array<ArrayBuffer> | undefined {
    const direction = this.#direction;
    if (end === 'complete') return this.#lastBytes();
    if (end === 'cancelled' || end === 'sink-stalled') {
      const [sink] = this.ends;
      const kept = this.#heldAlone();
      if (kept && sink.keepForLater?.(kept) === true) {
        direction.delivered += undelivered(direction);
        direction.held = undefined;
        this.#piece = undefined;
      }
      const rest = takeBack(direction, this.#components);
      this.#releasePiece();
      return rest;
    }
    discardBytes(direction, this.#components);
    this.#releasePiece();
    return undefined;
  }

  /**
   * What is held, in memory of which nothing is anybody else's: a piece that is not taken whole stays in its
   * run, and goes back to the pool with it.
   */
  #heldAlone(): HeldBytes | undefined {
    const { held } = this.#direction;
    if (!held || held.isPooled || this.#piece) return held;
    const bytes = new Uint8Array(held.buffer, held.offset, held.end - held.offset);
    return holdBytes(this.#components.kernel, bytes);
  }

  get #isComplete(): boolean {
    const { readyByte, headByte } = this.runs;
    const isDelivered = headByte === this.#endByte && undelivered(this.#direction) === 0;
    return isDelivered && readyByte === this.#command.endByte;
  }

  /** The bytes at the end, which are not delivered. */
  #lastBytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#command.backBytes);
    let filled = 0;
    for (let { front } = this.runs; front; { front } = this.runs) {
      const [piece] = front.store;
      if (!piece) break;
      bytes.set(new Uint8Array(piece.buffer, piece.offset, piece.end - piece.offset), filled);
      filled += piece.end - piece.offset;
      this.runs.give(piece.end - piece.offset);
      front.store.shift();
      this.#components.pieces.give(piece);
    }
    return bytes;
  }

  #laneInTurn(): MergeLane | undefined {
    const { headByte } = this.runs;
    if (headByte >= this.#endByte || this.runs.front) return undefined;
    for (const lane of this.answers) if (lane.canGive && lane.atByte === headByte) return lane;
    return undefined;
  }

  /** Has the next piece of memory delivered, where there is one. */
  #takePiece(): void {
    const { front, headByte } = this.runs;
    const piece = front?.store[0];
    const mostBytes = this.#endByte - headByte;
    if (!front || !piece || mostBytes <= 0) return;
    const bytes = Math.min(piece.end - piece.offset, mostBytes);
    const { buffer, address, offset } = piece;
    this.#direction.held = { buffer, address, offset, end: offset + bytes, isPooled: false };
    this.#direction.onTaken?.(new Uint8Array(buffer, offset, bytes));
    if (bytes === piece.end - piece.offset) {
      front.store.shift();
      this.#piece = piece;
    } else piece.offset += bytes;
    this.runs.give(bytes);
  }

  #releasePiece(): void {
    if (this.#direction.held || !this.#piece) return;
    this.#components.pieces.give(this.#piece);
    this.#piece = undefined;
  }
}

/** The connection whose turn it is, as the one source of a direction. */
class NextSource implements End {
  end: End | undefined;

  get descriptor(): number {
    return this.end?.descriptor ?? -1;
  }

  get isPlain(): boolean {
    return this.end?.isPlain === true;
  }

  get readable(): boolean {
    return this.end?.readable === true;
  }

  set readable(isReadable: boolean) {
    if (this.end) this.end.readable = isReadable;
  }

  get writable(): boolean {
    return false;
  }

  get failed(): boolean {
    return this.end?.failed === true;
  }

  read(address: number, sizeBytes: number): number {
    return this.end?.read(address, sizeBytes) ?? 0;
  }

  write(): number {
    return 0;
  }

  endWriting(): number {
    return 0;
  }

  resetOnClose(): void {}

  takeError(): number {
    return 0;
  }

  close(): void {}
}
